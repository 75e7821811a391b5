/** The report includes uPlot's own files, unchanged, in the version that package.json pins. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

const PACKED = join(import.meta.dirname, "node_modules", "uplot");
const CORE = join(import.meta.dirname, "..", "..", "layers", "core", "src", "slackwater");
const VENDORED = join(CORE, "views", "report", "vendor");

for (const file of ["dist/uPlot.iife.min.js", "dist/uPlot.min.css", "LICENSE"]) {
  test(`${file} is uPlot's own`, () => {
    const vendored = readFileSync(join(VENDORED, file.replace("dist/", "")));
    const packed = readFileSync(join(PACKED, file));
    assert.ok(vendored.equals(packed), "differs from node_modules/uplot: copy it again");
  });
}
