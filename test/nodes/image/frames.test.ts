import sharp from 'sharp';
import t from 'tap';
import { blurNode, cropNode, optimizeNode, rotateNode } from '../../../src/nodes/index.ts';
import { animation, delays, framesOf } from '../../support/pictures.ts';
import { only, runKind } from '../../support/run-kind.ts';

t.test('frames come out in their order, with their own pixels and times', async (t) => {
  const file = await animation('webp');
  const { bytes } = await only(runKind(t, rotateNode, { angle: 180 }, [file]));
  const again = await only(runKind(t, rotateNode, { angle: 180 }, [{ bytes, mimeType: 'image/webp' }]));
  t.match(await sharp(again.bytes).metadata(), { pages: 3, delay: delays, loop: 2 });
  const centres = await Promise.all((await framesOf(again.bytes)).map(mainColour));
  t.same(centres, await Promise.all((await framesOf(file.bytes)).map(mainColour)));
});

t.test('one frame of an animation that is cut down to it stays one', async (t) => {
  const smart = { width: 60, height: 60, position: 'entropy' } as const;
  const { output } = await only(runKind(t, cropNode, smart, [await animation('webp')], { intermediate: true }));
  const { output: turned } = await only(runKind(t, rotateNode, { angle: 90 }, [output]));
  t.match(turned.meta, { width: 60, height: 60, pages: 1 });
});

t.test('what tells of an animation is handed on, and lost in what is written unless it is asked for', async (t) => {
  const { bytes } = await animation('webp');
  const described = await sharp(bytes, { animated: true })
    .withExif({ IFD0: { Artist: 'A. Nonymous' } })
    .webp({ lossless: true })
    .toBuffer();
  const file = { bytes: described, mimeType: 'image/webp' };
  const turned = (intermediate: boolean) => runKind(t, rotateNode, { angle: 90 }, [file], { intermediate });
  const blurred = (intermediate: boolean) => runKind(t, blurNode, { sigma: 1 }, [file], { intermediate });
  for (const work of [turned, blurred]) {
    const { output } = await only(work(true));
    const kept = await only(runKind(t, optimizeNode, { metadata: 'all' }, [output]));
    t.match(await sharp(kept.bytes).metadata(), { pages: 3, delay: delays, loop: 2 });
    t.ok(kept.bytes.includes('A. Nonymous'));
    t.notOk((await only(work(false))).bytes.includes('A. Nonymous'));
  }
});

/** Which of red, green and blue the frame's square has. */
const mainColour = async (frame: Buffer): Promise<string> => {
  const { channels } = await sharp(frame).flatten({ background: '#ffffff' }).stats();
  return channels.map(({ min }) => (min < 60 ? '-' : 'x')).join('');
};
