/** What opens under a finding, and what its pictures show. */
import assert from "node:assert/strict";
import { browserTests } from "./page.mjs";

const on = browserTests("people");
const DRAWN = "ebs-instance-bound"; // the finding with evidence of every shape

async function opened(page, findings, wanted) {
  const finding = findings.find(wanted);
  const row = page.locator(`[data-finding="${finding.id}"]`);
  await row.locator("[data-toggle]").click();
  return { finding, row };
}

/** How many pixels of a canvas are painted, and in how many colors. */
const painted = (canvas) =>
  canvas.evaluate((element) => {
    const { data } = element.getContext("2d").getImageData(0, 0, element.width, element.height);
    const colors = new Set();
    let pixels = 0;
    for (let at = 0; at < data.length; at += 4) {
      if (!data[at + 3]) continue;
      pixels += 1;
      colors.add(`${data[at]},${data[at + 1]},${data[at + 2]}`);
    }
    return { pixels, colors: colors.size };
  });

on("people", "nothing is drawn before it is asked for, and what is closed can be opened again", async (page, { document: { findings } }) => {
  assert.equal(await page.locator("canvas").count(), 0);
  const { row } = await opened(page, findings, (f) => f.detector === DRAWN);
  const toggle = row.locator("[data-toggle]");
  const panel = page.locator(`[id="${await toggle.getAttribute("aria-controls")}"]`);
  const charts = await row.locator(".chart canvas").count();
  assert.ok(charts > 0);
  for (const open of [false, true]) {
    await toggle.click();
    assert.equal(await toggle.getAttribute("aria-expanded"), String(open));
    assert.equal(await panel.isVisible(), open);
    assert.equal(await row.locator(".chart canvas").count(), charts);
  }
});

on("people", "every series with a point is drawn, and named with its least, greatest and last value", async (page, { document: { findings } }) => {
  const { finding, row } = await opened(page, findings, (f) => f.detector === DRAWN);
  const series = finding.evidence.filter(({ series }) => series?.values.some((value) => value !== null));
  const charts = row.locator(".chart");
  assert.equal(await charts.count(), series.length);
  for (const [at, { label, lines = [], forecast }] of series.entries()) {
    const { pixels, colors } = await painted(charts.nth(at).locator("canvas"));
    assert.ok(pixels > 1000 && colors > 2, `${label}: ${pixels} pixels in ${colors} colors`);
    assert.equal(await charts.nth(at).getAttribute("role"), "img");
    const told = await charts.nth(at).getAttribute("aria-label");
    for (const part of [label, "least", "greatest", "last", ...lines.map((line) => line.label), ...(forecast ? ["forecast"] : [])]) {
      assert.ok(told.includes(part), `${told} does not tell ${part}`);
    }
  }
  assert.match(await charts.first().getAttribute("aria-label"), /greatest 3,000 IOPS;[^]*gaps[^]*Provisioned 16,000 IOPS/);
});

on("people", "levels and forecast are told beside the picture, and what was not drawn is told as words", async (page, { document: { findings } }) => {
  const { finding, row } = await opened(page, findings, (f) => f.detector === DRAWN);
  const text = await row.innerText();
  for (const { label, lines = [], forecast } of finding.evidence) {
    for (const part of [label, ...lines.map((line) => line.label), ...(forecast ? ["Forecast"] : [])]) {
      assert.ok(text.includes(part), `${part} is not told`);
    }
  }
});

/** Where in a chart's canvas its line is painted: for every column, whether it holds ink of the line's color. */
const inked = (row, at) =>
  row.evaluate((element, at) => {
    const chart = element.querySelectorAll(".chart")[at];
    const probe = document.createElement("i");
    probe.className = "color-tide";
    element.append(probe);
    const color = getComputedStyle(probe).color.match(/\d+/g).slice(0, 3).map(Number);
    probe.remove();
    const canvas = chart.querySelector("canvas");
    const { left, width } = chart.querySelector(".u-over").getBoundingClientRect();
    const from = Math.round((left - canvas.getBoundingClientRect().left) * devicePixelRatio);
    const { data } = canvas.getContext("2d").getImageData(from, 0, Math.floor(width * devicePixelRatio), canvas.height);
    const columns = data.length / 4 / canvas.height;
    return Array.from({ length: columns }, (_, x) =>
      Array.from({ length: canvas.height }, (_, y) => (y * columns + x) * 4).some(
        (i) => data[i + 3] > 200 && color.every((part, n) => Math.abs(data[i + n] - part) < 8),
      ),
    );
  }, at);

on("people", "a gap in a series is a gap in its line, and a forecast is dashed", async (page, { document: { findings } }) => {
  const { row } = await opened(page, findings, (f) => f.detector === DRAWN);
  const part = (columns, from, to) => columns.slice(Math.ceil(columns.length * from), Math.floor(columns.length * to));
  const share = (columns) => columns.filter(Boolean).length / columns.length;
  // Points 800 to 899 of 4,032 are missing.
  const plateau = await inked(row, 0);
  // Where the line lies on a dotted level, the level is above it.
  assert.ok(share(part(plateau, 0.02, 0.19)) > 0.6, "no line before the gap");
  assert.equal(share(part(plateau, 0.205, 0.218)), 0, "a line through the gap");
  assert.ok(share(part(plateau, 0.24, 0.98)) > 0.6, "no line after the gap");
  // 336 hours, and 124 to come.
  const credits = await inked(row, 1);
  assert.ok(share(part(credits, 0.02, 0.7)) > 0.95, "no line");
  const ahead = share(part(credits, 0.75, 0.98));
  assert.ok(ahead > 0.25 && ahead < 0.9, `a forecast that is inked on ${ahead} of its way`);
});

on("people", "a chart's points are there as a table, nulls as such", async (page, { document: { findings } }) => {
  const { finding, row } = await opened(page, findings, (f) => f.detector === DRAWN);
  const at = finding.evidence.findIndex(({ label }) => label === "Network by day");
  const figure = row.locator("figure").filter({ hasText: "Network by day" });
  await figure.locator("summary").click();
  const cells = await figure.locator("td").allInnerTexts();
  assert.equal(cells.length, finding.evidence[at].series.values.length);
  assert.equal(cells.filter((cell) => cell.includes("7.2")).length, 1);
  assert.equal(cells.filter((cell) => /nothing published/.test(cell)).length, 35);
});

on("people", "what to do, what it saves, its risk, command, caveats and prices are told", async (page, { document: { findings } }) => {
  const { finding, row } = await opened(page, findings, (f) => f.detector === "efs-throughput-mismatch");
  const text = await row.innerText();
  const [{ summary, risk, command }] = finding.recommendations;
  const [price] = finding.price_basis;
  for (const part of [summary, risk, command, "1,819.67", ...finding.caveats, price.item, price.source, price.as_of, finding.resource.arn]) {
    assert.ok(text.includes(part), `${part} is not told`);
  }
});

on("people", "the command is copied whole", async (page, { document: { findings } }) => {
  await page.evaluate(() => addEventListener("copy", () => (window.copied = String(getSelection()))));
  const { finding, row } = await opened(page, findings, (f) => f.detector === "efs-throughput-mismatch");
  const copy = row.locator("button.copy");
  await copy.click();
  await copy.getByText("Copied").waitFor();
  const copied = await page.evaluate(async () => window.copied ?? (await navigator.clipboard.readText()));
  assert.equal(copied, finding.recommendations[0].command);
}, { permissions: ["clipboard-read", "clipboard-write"] });

on("people", "the pointer reads values and gaps off a chart", async (page, { document: { findings } }) => {
  const { row } = await opened(page, findings, (f) => f.detector === DRAWN);
  const point = async (figure, share) => {
    await figure.scrollIntoViewIfNeeded();
    const { x, y, width, height } = await figure.locator(".u-over").boundingBox();
    await page.mouse.move(x + width * share, y + height / 2);
    return figure.locator(".readout").innerText();
  };
  assert.match(await point(row.locator("figure").first(), 0.5), /^2026-11-\d\d \d\d:\d\d: [\d,]+ IOPS$/);
  const daily = row.locator("figure").filter({ hasText: "Network by day" });
  assert.match(await point(daily, 20 / 35), /^2026-11-\d\d: 7.2 %$/);
  assert.match(await point(daily, 0.9), /^2026-11-\d\d: nothing published$/);
});

on("people", "a chart fits the window that changes its width", async (page, { document: { findings } }) => {
  const { row } = await opened(page, findings, (f) => f.detector === DRAWN);
  const chart = row.locator(".chart").first();
  for (const width of [500, 1200]) {
    await page.setViewportSize({ width, height: 900 });
    await page.waitForFunction((element) => {
      const [outer, inner] = [element, element.querySelector("canvas")].map((each) => each.getBoundingClientRect().width);
      return Math.abs(outer - inner) <= 1;
    }, await chart.elementHandle());
  }
});
