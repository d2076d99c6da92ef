import t from 'tap';
import { isAssetKey } from '../../src/domain/asset.ts';

t.test('the key of an asset is below assets/, and leads nowhere else', async (t) => {
  for (const key of ['assets/logo.png', 'assets/shops/eu-1/logo_2.webp']) t.ok(isAssetKey(key), key);
  for (const key of [
    'logo.png',
    'assets',
    'assets/',
    'assets/../secret.png',
    'assets/a/../../b.png',
    'assets/./b.png',
    'assets//b.png',
    '/assets/b.png',
    'assets/.hidden',
    'assets/a b.png',
    'assets/a\nb',
    'assets/{{params.logo}}.png',
    'jobs/assets/a.png',
    'https://example.org/assets/a.png',
    `assets/${'a/'.repeat(9)}b`,
    5,
    undefined,
  ]) {
    t.notOk(isAssetKey(key), String(key));
  }
});
