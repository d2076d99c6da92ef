import t from 'tap';
import { createLinks, outputFileId } from '../../src/http/links.ts';

t.test('links are paths below the base', (t) => {
  for (const baseUrl of ['/sluice', 'sluice', '/sluice/', '//sluice//']) {
    const links = createLinks(baseUrl);
    t.equal(links.base, '/sluice', baseUrl);
    t.equal(links.upload('u'), '/sluice/api/upload/u');
    t.equal(links.file('u'), '/sluice/api/files/u');
    t.equal(links.job('j'), '/sluice/api/jobs/j/status');
  }
  t.equal(createLinks('/a/b').file('u'), '/a/b/api/files/u');
  t.end();
});

t.test('without a base they begin at the root', (t) => {
  for (const baseUrl of ['', '/']) {
    t.equal(createLinks(baseUrl).base, '');
    t.equal(createLinks(baseUrl).file('u'), '/api/files/u');
  }
  t.end();
});

t.test('an absolute address makes them absolute, and the base stays a path', (t) => {
  for (const baseUrl of ['https://files.example.org/sluice', 'https://files.example.org/sluice/']) {
    t.equal(createLinks(baseUrl).base, '/sluice');
    t.equal(createLinks(baseUrl).upload('u'), 'https://files.example.org/sluice/api/upload/u');
  }
  t.equal(createLinks('http://host:3000').base, '');
  t.equal(createLinks('http://host:3000/').file('u'), 'http://host:3000/api/files/u');
  t.end();
});

t.test('the address of a file may need a query', (t) => {
  const links = createLinks('https://host/sluice', (id) => `?for=${id}`);
  t.equal(links.file('u'), 'https://host/sluice/api/files/u?for=u');
  t.equal(links.upload('u'), 'https://host/sluice/api/upload/u');
  t.end();
});

t.test('an output is found by its job and its key', (t) => {
  t.equal(outputFileId('job', 'small.1'), 'job.small.1');
  t.end();
});
