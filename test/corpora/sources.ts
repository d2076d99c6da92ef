/**
 * Pictures that nobody here has made: from the test folders of the libraries that read them, damaged and hostile ones
 * among them. Each archive is known by its hash.
 */

export interface Source {
  readonly name: string;
  /** Lower-case hex, of the archive. */
  readonly sha256: string;
  /** `debian`: below `pool/main` of Debian's archive; `pypi`: a pinned requirement, of which the sdist is meant. */
  readonly from: { readonly debian: string } | { readonly pypi: string };
  /** Folders to take, below the only one of the archive. */
  readonly folders: readonly string[];
}

export const sources: readonly Source[] = [
  {
    name: 'pillow',
    sha256: '166c1cd4d24309b30d61f79f4a9114b7b2313d7450912277855ff5dfd7cd4a06',
    from: { pypi: 'pillow==10.4.0' },
    folders: ['Tests/images'],
  },
  {
    name: 'libpng',
    sha256: 'a00e9d2f2f664186e4202db9299397f851aea71b36a35e74910b8820e380d441',
    from: { debian: 'libp/libpng1.6/libpng1.6_1.6.39.orig.tar.gz' },
    folders: ['contrib/pngsuite', 'contrib/testpngs'],
  },
  {
    name: 'libvips',
    sha256: 'a4a6b282216f7522b42ebb5cd64cfd82a0d1a632033e9c0502f021e945fed641',
    from: { debian: 'v/vips/vips_8.14.1.orig.tar.gz' },
    folders: ['test/test-suite/images'],
  },
  {
    name: 'exiv2',
    sha256: 'f16ee5ff08b6994c66106109417857f13e711fca100ac43c6a403d4f02b59602',
    from: { debian: 'e/exiv2/exiv2_0.27.6.orig.tar.gz' },
    folders: ['test/data'],
  },
  {
    name: 'libtiff',
    sha256: '638f43d7dea33948d5dee7f39572fc0194d9cc3c74195de9dd26a4388a1f880a',
    from: { debian: 't/tiff/tiff_4.5.0.orig.tar.bz2' },
    folders: ['test/images'],
  },
  {
    name: 'giflib',
    sha256: '31da5562f44c5f15d63340a09a4fd62b48c45620cd302f77a6d9acf0077879bd',
    from: { debian: 'g/giflib/giflib_5.2.1.orig.tar.gz' },
    folders: ['pic'],
  },
  {
    name: 'libheif',
    sha256: '28d5a376fe7954d2d03453f983aaa0b7486f475c27c7806bda31df9102325556',
    from: { debian: 'libh/libheif/libheif_1.15.1.orig.tar.gz' },
    folders: ['examples', 'fuzzing/corpus'],
  },
  {
    name: 'libjpeg-turbo',
    sha256: '254f3642b04e309fee775123133c6464181addc150499561020312ec61c1bf7c',
    from: { debian: 'libj/libjpeg-turbo/libjpeg-turbo_2.1.5.orig.tar.gz' },
    folders: ['testimages'],
  },
  {
    name: 'graphicsmagick',
    sha256: '97dc1a9d4e89c77b25a3b24505e7ff1653b88f9bfe31f189ce10804b8efa7746',
    from: { debian: 'g/graphicsmagick/graphicsmagick_1.4+really1.3.40.orig.tar.xz' },
    folders: ['PerlMagick/t'],
  },
];
