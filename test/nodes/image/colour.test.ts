import t from 'tap';
import { hexColour, overWhite } from '../../../src/nodes/image/colour.ts';

t.test('colours are hexadecimal', async (t) => {
  for (const colour of ['#fff', '#FFF8', '#123456', '#12345678']) t.match(colour, new RegExp(hexColour));
  for (const colour of ['fff', '#ff', '#12345', '#1234567', '#ggg', 'white']) t.notMatch(colour, new RegExp(hexColour));
});

t.test('transparency shows white', async (t) => {
  t.equal(overWhite('#00000000'), '#ffffff');
  t.equal(overWhite('#f00'), '#ff0000');
  t.equal(overWhite('#0f08'), '#77ff77');
  t.equal(overWhite('#12345680'), '#8899aa');
});
