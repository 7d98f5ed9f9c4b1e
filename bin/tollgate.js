#!/usr/bin/env node
// Every Node must be able to read this file, also one too old for the rest: no syntax newer than import().
var version = process.version.slice(1).split('.').map(Number);
if (version[0] > 22 || (version[0] === 22 && version[1] >= 19)) {
  void import('./launch.js');
} else {
  process.stderr.write(
    'Tollgate needs Node 22.19 or newer, this is ' +
      process.version +
      '; install a newer Node, or start a clone with `npm start`, which brings its own.\n',
  );
  process.exitCode = 2;
}
