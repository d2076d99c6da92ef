/** Owners of one process: the port's suite. */
import { localOwners } from '../../../../src/drivers/owners/local/index.ts';
import { testOwners } from '../../../conformance/owners.ts';

testOwners('local', async () => ({ driver: localOwners(), teardown: async () => {} }));
