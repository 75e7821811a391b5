/** The details that open under a finding, and its charts. */
import assert from "node:assert/strict";
import { browserTests } from "./page.mjs";

const on = browserTests("people", "heights");
const DRAWN = "ebs-instance-bound"; // the finding with evidence of every shape

async function opened(page, findings, wanted) {
  const finding = findings.find(wanted);
  const row = page.locator(`[data-finding="${finding.id}"]`);
  await row.locator("[data-toggle]").click();
  return { finding, row };
}

/** Count the painted pixels of a canvas, and their colors. */
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

on("people", "nothing is drawn unasked, and what is closed reopens", async (page, { document: { findings } }) => {
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

on("people", "every series with a point is drawn, and named with values", async (page, { document: { findings } }) => {
  const { finding, row } = await opened(page, findings, (f) => f.detector === DRAWN);
  const series = finding.evidence.filter(({ series }) => series?.values.some((value) => value !== null));
  const charts = row.locator(".chart");
  assert.equal(await charts.count(), series.length);
  for (const [at, { label, lines = [], forecast }] of series.entries()) {
    const { pixels, colors } = await painted(charts.nth(at).locator("canvas"));
    assert.ok(pixels > 1000 && colors > 2, `${label}: ${pixels} pixels in ${colors} colors`);
    assert.equal(await charts.nth(at).getAttribute("role"), "img");
    const told = await charts.nth(at).getAttribute("aria-label");
    const levels = lines.map((line) => line.label);
    for (const part of [label, "least", "greatest", "last", ...levels, ...(forecast ? ["forecast"] : [])]) {
      assert.ok(told.includes(part), `${told} does not tell ${part}`);
    }
  }
  const first = await charts.first().getAttribute("aria-label");
  assert.match(first, /greatest 3,000 IOPS;[^]*gaps[^]*Provisioned 16,000 IOPS/);
});

on("people", "levels, forecast and what was not drawn are told in words", async (page, { document: { findings } }) => {
  const { finding, row } = await opened(page, findings, (f) => f.detector === DRAWN);
  const text = await row.innerText();
  for (const { label, lines = [], forecast } of finding.evidence) {
    for (const part of [label, ...lines.map((line) => line.label), ...(forecast ? ["Forecast"] : [])]) {
      assert.ok(text.includes(part), `${part} is not told`);
    }
  }
});

/** Return for every column of a chart's canvas whether it has a pixel of the line's color. */
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

on("people", "a gap in a series is one in its line; a forecast is dashed", async (page, { document: { findings } }) => {
  const { row } = await opened(page, findings, (f) => f.detector === DRAWN);
  const part = (columns, from, to) => columns.slice(Math.ceil(columns.length * from), Math.floor(columns.length * to));
  const share = (columns) => columns.filter(Boolean).length / columns.length;
  // Points 800 to 899 of 4,032 are missing.
  const plateau = await inked(row, 0);
  // Where the line covers a dotted level, the level is drawn above it.
  assert.ok(share(part(plateau, 0.02, 0.19)) > 0.6, "no line before the gap");
  assert.equal(share(part(plateau, 0.205, 0.218)), 0, "a line through the gap");
  assert.ok(share(part(plateau, 0.24, 0.98)) > 0.6, "no line after the gap");
  // 336 hours, and a forecast of 124.
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
  await figure.locator("td").first().waitFor(); // opening sends an event after the click, which writes the table
  const cells = await figure.locator("td").allInnerTexts();
  assert.equal(cells.length, finding.evidence[at].series.values.length);
  assert.equal(cells.filter((cell) => cell.includes("7.2")).length, 1);
  assert.equal(cells.filter((cell) => /nothing published/.test(cell)).length, 35);
});

on("people", "fix, saving, risk, command, caveats and prices are told", async (page, { document: { findings } }) => {
  const { finding, row } = await opened(page, findings, (f) => f.detector === "efs-throughput-mismatch");
  const text = await row.innerText();
  const [{ summary, risk, command }] = finding.recommendations;
  const [price] = finding.price_basis;
  const priced = [price.item, price.source, price.as_of];
  for (const part of [summary, risk, command, "1,819.67", ...finding.caveats, ...priced, finding.resource.arn]) {
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

on("people", "the command of a top fix is copied whole", async (page, { document: { findings } }) => {
  await page.evaluate(() => addEventListener("copy", () => (window.copied = String(getSelection()))));
  const copy = page.locator(".fixes .copy").first();
  await copy.click();
  await copy.getByText("Copied").waitFor();
  const copied = await page.evaluate(async () => window.copied ?? (await navigator.clipboard.readText()));
  const waste = findings.filter(({ kind }) => kind === "waste");
  const [best] = waste.toSorted((a, b) => b.monthly_savings_usd - a.monthly_savings_usd);
  assert.equal(copied, best.recommendations[0].command);
}, { permissions: ["clipboard-read", "clipboard-write"] });

on("people", "the pointer reads values and gaps off a chart", async (page, { document: { findings } }) => {
  const { row } = await opened(page, findings, (f) => f.detector === DRAWN);
  const point = async (figure, share) => {
    await figure.scrollIntoViewIfNeeded();
    const { x, y, width, height } = await figure.locator(".u-over").boundingBox();
    await page.mouse.move(x + width * share, y + height / 2);
    return figure.locator(".readout").innerText();
  };
  assert.match(await point(row.locator("figure").first(), 0.5), /^2026-11-\d\d \d\d:\d\d UTC: [\d,]+ IOPS$/);
  const daily = row.locator("figure").filter({ hasText: "Network by day" });
  assert.match(await point(daily, 20 / 35), /^2026-11-\d\d UTC: 7.2 %$/);
  assert.match(await point(daily, 0.9), /^2026-11-\d\d UTC: nothing published$/);
});

on("people", "a chart fits the window that changes its width", async (page, { document: { findings } }) => {
  const { row } = await opened(page, findings, (f) => f.detector === DRAWN);
  const chart = row.locator(".chart").first();
  for (const width of [500, 1200]) {
    await page.setViewportSize({ width, height: 900 });
    await page.waitForFunction((element) => {
      const both = [element, element.querySelector("canvas")];
      const [outer, inner] = both.map((each) => each.getBoundingClientRect().width);
      return Math.abs(outer - inner) <= 1;
    }, await chart.elementHandle());
  }
});

/** Record what is drawn from now on, by canvas: texts, dotted lines, and curves with their points and dashes. */
const remember = (page) =>
  page.evaluate(() => {
    window.marks = new Map();
    const of = ({ canvas }) => {
      if (!marks.has(canvas)) marks.set(canvas, { texts: [], dotted: [], curves: [], halos: [] });
      return marks.get(canvas);
    };
    const before = (prototype, name, note) => {
      const own = prototype[name];
      prototype[name] = function (...given) {
        note(this, ...given);
        return own.apply(this, given);
      };
    };
    for (const name of ["moveTo", "lineTo"]) {
      before(Path2D.prototype, name, (path, x, y) => (path.points ??= []).push([x, y]));
    }
    const { prototype } = CanvasRenderingContext2D;
    before(prototype, "clearRect", ({ canvas }) => marks.delete(canvas)); // count only the last drawing of a canvas
    before(prototype, "fillText", (ctx, text, x, y) => {
      of(ctx).texts.push({ text, x, y, align: ctx.textAlign, baseline: ctx.textBaseline });
    });
    before(prototype, "strokeText", (ctx, text) => of(ctx).halos.push([text, ctx.strokeStyle, ctx.lineWidth]));
    before(prototype, "moveTo", (ctx, x, y) => ctx.getLineDash().length && of(ctx).dotted.push(y));
    before(prototype, "stroke", (ctx, path) => {
      if (path?.points) of(ctx).curves.push({ points: path.points, dashed: ctx.getLineDash().length > 0 });
    });
  });

/** Return a fact's chart as drawn: axes, levels with their names, curves, key and texts. */
async function drawing(page, { document: { findings } }, label) {
  await remember(page);
  const { finding, row } = await opened(page, findings, () => true);
  const figure = row.locator("figure").filter({ hasText: label });
  const { texts, dotted, curves, halos } = await figure.locator("canvas").evaluate((canvas) => marks.get(canvas));
  const ticks = texts.filter(({ align, baseline }) => align === "right" && baseline === "middle");
  const scale = ticks.map(({ text, y }) => [valued(text), y]);
  const times = texts.filter(({ align, baseline }) => align === "center" && baseline === "top");
  const names = texts.filter(({ align, baseline }) => align !== "center" && baseline !== "middle");
  const nearest = (y) => dotted.toSorted((a, b) => Math.abs(a - y) - Math.abs(b - y))[0];
  return {
    fact: finding.evidence.find((fact) => fact.label === label),
    figure,
    scale,
    times: times.map(({ text, x }) => [text, x]),
    levels: Object.fromEntries(names.map(({ text, y }) => [text, { named: y, dotted: nearest(y) }])),
    curves,
    halos,
    key: await figure.locator(".key li").allInnerTexts(),
    told: await figure.locator(".chart").getAttribute("aria-label"),
  };
}

const valued = (tick) => Number(tick.replace(/[KM]$/, "")) * ({ K: 1e3, M: 1e6 }[tick.at(-1)] ?? 1);

/** Return a value's vertical position in a chart, from the first and last tick. */
function depth(scale, value, of = (linear) => linear) {
  const [[low, from], [high, to]] = [scale[0], scale.at(-1)];
  return from + ((of(value) - of(low)) / (of(high) - of(low))) * (to - from);
}

function near(actual, expected, what) {
  assert.ok(Math.abs(actual - expected) <= 1.5, `${what} is at ${actual}, not at ${expected}`);
}

function levelsStand({ fact, scale, levels }, of) {
  assert.deepEqual(Object.keys(levels).sort(), fact.lines.map(({ label }) => label).sort());
  for (const { label, value } of fact.lines) {
    near(levels[label].dotted, depth(scale, value, of), label);
    near(Math.abs(levels[label].named - levels[label].dotted), 3, `the name of ${label}`);
  }
}

const LOGARITHMIC = {
  "A plateau after a peak": { decades: [1, 10, 100], key: "Logarithmic, with zero at the foot", low: 0 },
  "A plateau alone": { decades: [1, 10, 100], key: "Logarithmic", low: 7.96 },
  "On a power of ten": { decades: [0.1, 1, 10, 100], key: "Logarithmic", low: 1 },
  "Far below": { decades: [1e-6, 1e-4, 0.01, 1, 100], key: "Logarithmic", low: 1e-5 },
};

for (const [label, { decades, key, low }] of Object.entries(LOGARITHMIC)) {
  on("heights", `levels far above give a scale that says that it is logarithmic: ${label}`, async (page, report) => {
    const drawn = await drawing(page, report, label);
    const { scale, curves, fact } = drawn;
    assert.deepEqual(scale.map(([value]) => value), decades);
    for (const [value, y] of scale) near(y, depth(scale, value, Math.log10), `the tick ${value}`);
    levelsStand(drawn, (value) => Math.log10(Math.max(value, decades[0]))); // zero is at the bottom
    const [{ points }] = curves;
    near(Math.min(...points.map(([, y]) => y)), depth(scale, Math.max(...fact.series.values), Math.log10), "the peak");
    near(Math.max(...points.map(([, y]) => y)), depth(scale, low || decades[0], Math.log10), "the least");
    if (low) assert.ok(scale[0][1] - Math.max(...points.map(([, y]) => y)) > 8, "it lies on the axis");
    assert.ok(drawn.key.includes(key), drawn.key.join("; "));
  });
}

on("heights", "used and provisioned are at their heights, and an unfinished day is dashed", async (page, report) => {
  const drawn = await drawing(page, report, "Used of what is provisioned");
  const { scale, curves, key, told, figure } = drawn;
  assert.ok(scale.at(-1)[0] >= 6000);
  for (const [value, y] of scale) near(y, depth(scale, value), `the tick ${value}`);
  levelsStand(drawn);
  const [whole, rest] = [false, true].map((dashed) => curves.find((curve) => curve.dashed === dashed).points);
  for (const [, y] of whole) near(y, depth(scale, 660), "a whole day");
  assert.equal(rest[0][0], whole.at(-1)[0], "the dashes do not begin where the line ends");
  near(rest[0][1], depth(scale, 660), "where the dashes begin");
  near(rest.at(-1)[1], depth(scale, 20), "the day that is not over");
  assert.deepEqual(key, ["Provisioned: 8,000 IOPS", "Proposed: 792 IOPS", "Last day not over"]);
  assert.match(told, /last 20 IOPS; last day not over/);
  await figure.locator("summary").click();
  await figure.locator(".numbers").waitFor();
  assert.deepEqual((await figure.locator("td").allInnerTexts()).slice(-2), ["660", "20 (last day not over)"]);
  const { x, y, width, height } = await figure.locator(".u-over").boundingBox();
  await page.mouse.move(x + width - 1, y + height / 2);
  assert.equal(await figure.locator(".readout").innerText(), "2026-11-22 UTC: 20 IOPS, last day not over");
});

on("heights", "a full height that no level names is said", async (page, report) => {
  const drawn = await drawing(page, report, "Highest CPU");
  levelsStand(drawn);
  assert.equal(drawn.scale.at(-1)[0], 100);
  assert.deepEqual(drawn.key, ["Idle below: 5 %", "Full height: 100 %"]);
  assert.match(drawn.told, /full height: 100 %/);
});

on("heights", "a curve far below its full height is drawn without it, in its own unit", async (page, report) => {
  const { scale, curves, key, told } = await drawing(page, report, "Next to no credits");
  assert.ok(scale.at(-1)[0] < 10, `the axis goes up to ${scale.at(-1)[0]}`);
  const highest = Math.min(...curves[0].points.map(([, y]) => y));
  near(highest, depth(scale, (23 * 4e8) / 2 ** 30), "the peak");
  assert.deepEqual(key, ["Full, far above this picture: 2,150 GiB"]);
  assert.match(told, /greatest 8\.568 GiB.*full, far above this picture: 2,150 GiB/);
});

on("heights", "a level's name can be read where a curve runs through it", async (page, report) => {
  for (const colorScheme of ["light", "dark"]) {
    await page.emulateMedia({ colorScheme });
    const { halos } = await drawing(page, report, "Highest CPU");
    assert.deepEqual(halos, [["Idle below", { light: "#ffffff", dark: "#141d21" }[colorScheme], 4]]);
    await page.reload();
  }
});

on("heights", "a forecast begins where the line ends", async (page, report) => {
  const { scale, curves } = await drawing(page, report, "Credits and what becomes of them");
  const [known, ahead] = [false, true].map((dashed) => curves.find((curve) => curve.dashed === dashed).points);
  assert.deepEqual(ahead[0], known.at(-1));
  near(ahead.at(-1)[1], depth(scale, 5e9 / 2 ** 40), "its end");
});

on("heights", "points that were left out leave the others in their places", async (page, report) => {
  const { scale, curves, told, key } = await drawing(page, report, "A spike among thousands");
  const points = curves[0].points;
  const [left, right] = [Math.min(...points.map(([x]) => x)), Math.max(...points.map(([x]) => x))];
  const [x, y] = points.reduce((a, b) => (b[1] < a[1] ? b : a));
  near(x, left + ((right - left) * 1000) / 4031, "the spike");
  near(y, depth(scale, 10), "its height");
  assert.match(told, /2026-11-08 04:20 to 2026-11-22 04:15 UTC/);
  assert.match(key.join(), /^\d+ points of 4,032, peaks kept$/);
});

on("heights", "times are UTC's wherever it is read, and hours have a date", async (page, report) => {
  const { times, figure, told } = await drawing(page, report, "A plateau after a peak");
  const said = times.map(([text]) => text);
  const halfHours = ["00:30", "01:00", "01:30", "02:00", "02:30", "03:00", "03:30", "04:00"];
  assert.deepEqual(said.filter((text) => /:/.test(text)), halfHours);
  assert.deepEqual(said.filter((text) => !/:/.test(text)), ["22 Nov UTC"]);
  assert.match(told, /2026-11-22 00:05 to 2026-11-22 04:15 UTC/);
  const { x, y, height } = await figure.locator(".u-over").boundingBox();
  await page.mouse.move(x + 1, y + height / 2);
  assert.equal(await figure.locator(".readout").innerText(), "2026-11-22 00:05 UTC: 348 MB/s");
});

on("heights", "a night has both dates, and days are UTC's", async (page, report) => {
  const night = await drawing(page, report, "A plateau alone");
  assert.deepEqual(night.times.map(([text]) => text).filter((text) => !/:/.test(text)), ["21 Nov UTC", "22 Nov"]);
  await page.reload();
  const days = await drawing(page, report, "A spike among thousands");
  assert.ok(days.times.length > 3);
  const xs = days.curves[0].points.map(([x]) => x);
  const [left, right] = [Math.min(...xs), Math.max(...xs)];
  const [from, to] = ["2026-11-08T04:20Z", "2026-11-22T04:15Z"].map(Date.parse);
  for (const [text, x] of days.times) {
    assert.match(text, /^\d+ Nov$/);
    near(x, left + ((Date.parse(`${text} 2026 UTC`) - from) / (to - from)) * (right - left), `midnight of ${text}`);
  }
});
