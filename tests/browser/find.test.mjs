/** Finding a finding: search, filters, order, links and keys. */
import assert from "node:assert/strict";
import { PHONE, browserTests, seen } from "./page.mjs";

const on = browserTests("people", "nothing", "blind", "organization");
const RANK = ["high", "medium", "low", "info"];

/** Return the ids of the visible findings, in order. */
const shown = (page) =>
  page.$$eval("[data-finding]", (rows) =>
    rows.filter((row) => row.checkVisibility()).map((row) => row.dataset.finding),
  );
/** Return the values of a filter. The first one stands for all. */
const offered = (filter) => filter.locator("option").evaluateAll((options) => options.map((option) => option.value));
const ids = (findings) => findings.map((finding) => finding.id);

async function showsOnly(page, wanted, of) {
  assert.deepEqual((await shown(page)).sort(), ids(wanted).sort());
  const said = (await page.textContent("#shown")).match(/\d+/g).map(Number);
  assert.deepEqual(said, wanted.length === of ? [of] : [wanted.length, of]);
  assert.equal(await page.isVisible("#empty"), wanted.length === 0);
}

function words({ id, detector, owner, summary, resource: { arn, id: resource, name, account, region, tags } }) {
  const own = [id, detector, owner, summary, arn, resource, name, account, region];
  return [...own, ...Object.entries(tags ?? {}).flat()].join("\n").toLowerCase();
}

on("people", "search finds by every text of a finding, and says how many", async (page, { document: { findings } }) => {
  const queries = {
    "store-27": 1,
    "STORE-2": 10,
    "vol-0000000000000001b": 1,
    "arn:aws:ec2:eu-west-1:111111111111:volume/vol-0000000000000000c": 1,
    "ml-research": 1,
    staging: 1,
    222222222222: 1,
    "127 gib of gp3": 1,
    "fsx-oversized": 1,
    גיבוי: 1,
    "🗂️": 1,
    "<img src=x": 1,
  };
  for (const [query, atLeast] of Object.entries(queries)) {
    const asked = query.toLowerCase().split(" ");
    const wanted = findings.filter((finding) => asked.every((word) => words(finding).includes(word)));
    assert.ok(wanted.length >= atLeast && wanted.length < findings.length, `${query} is a poor query`);
    await page.fill("#search", query);
    await showsOnly(page, wanted, findings.length);
  }
  await page.fill("#search", "no such thing");
  await showsOnly(page, [], findings.length);
  await page.fill("#search", "");
  await showsOnly(page, findings, findings.length);
});

const FILTERS = {
  severity: (finding) => finding.severity,
  kind: (finding) => finding.kind,
  detector: (finding) => finding.detector,
  region: (finding) => finding.resource.region,
  account: (finding) => finding.resource.account,
  owner: (finding) => finding.owner ?? "(none)",
  confidence: (finding) => finding.confidence,
};

for (const [name, of] of Object.entries(FILTERS)) {
  on("people", `the filter by ${name} offers what there is, and shows only that`, async (page, { document }) => {
    const { findings } = document;
    const filter = page.locator(`select[data-filter="${name}"]`);
    const [all, ...choices] = await offered(filter);
    assert.equal(all, "");
    assert.equal(choices.length, new Set(findings.map(of)).size);
    for (const [at, choice] of choices.entries()) {
      await filter.selectOption({ index: at + 1 });
      const wanted = findings.filter((finding) => seen(of(finding)) === choice);
      assert.ok(wanted.length > 0, choice);
      await showsOnly(page, wanted, findings.length);
    }
    await filter.selectOption({ index: 0 });
    await showsOnly(page, findings, findings.length);
  });
}

/** Return a filter for the findings of accounts in an organizational unit or below it. */
function inUnit(unit, { scan: { accounts } }) {
  const units = new Map(accounts.map((account) => [account.id, seen(account.organizational_unit)]));
  return ({ resource: { account } }) => units.get(account) === unit || units.get(account).startsWith(`${unit}/`);
}

on("organization", "the filter by organizational unit shows what is below it, too", async (page, { document }) => {
  const { findings } = document;
  const filter = page.locator('select[data-filter="unit"]');
  const [, ...units] = await offered(filter);
  assert.ok(["Root", "Root/Media", "Root/Media/Production"].every((unit) => units.includes(unit)), `${units}`);
  for (const unit of units) {
    await filter.selectOption(unit);
    const wanted = findings.filter(inUnit(unit, document));
    assert.ok(wanted.length > 0, unit);
    await showsOnly(page, wanted, findings.length);
  }
});

on("organization", "unit, account and owner lead to their findings, despite filters", async (page, { document }) => {
  const { findings } = document;
  const rows = {
    unit: (value) => inUnit(value, document),
    account: (value) => (finding) => finding.resource.account === value,
    owner: (value) => (finding) => (finding.owner ?? "(none)") === value,
  };
  for (const [name, of] of Object.entries(rows)) {
    await page.fill("#search", "store-1");
    await page.selectOption('select[data-filter="severity"]', "high");
    const link = page.locator(`[data-narrow="${name}"]`).nth(1);
    const value = await link.getAttribute("data-value");
    await link.click();
    await showsOnly(page, findings.filter(of(value)), findings.length);
    assert.equal(await page.inputValue(`select[data-filter="${name}"]`), value);
    const top = await page.locator("#findings").evaluate((section) => section.getBoundingClientRect().top);
    assert.ok(Math.abs(top) < 40, `the findings are at ${top}`);
  }
});

on("organization", "a page says of how many findings it shows the worst", async (page, { document }) => {
  const { findings, totals } = document;
  const said = `${findings.length} of ${totals.findings} findings are shown, the worst first;`;
  assert.equal(await page.innerText("#more"), `${said} the others are in the scan document (JSON, CSV).`);
});

on("people", "search and filters narrow and are cleared together", async (page, { document: { findings } }) => {
  await page.fill("#search", "store-");
  await page.selectOption('select[data-filter="severity"]', "high");
  await page.selectOption('select[data-filter="detector"]', "ebs-unattached");
  const unattached = findings.filter((f) => f.severity === "high" && f.detector === "ebs-unattached");
  const wanted = unattached.filter((f) => f.resource.name.startsWith("store-"));
  await showsOnly(page, wanted, findings.length);
  await page.click("#clear");
  await showsOnly(page, findings, findings.length);
});

const saving = ({ monthly_savings_usd: usd, recommendations }) =>
  usd === null || !recommendations.length ? -Infinity : Number(usd);
const ORDERS = {
  saving: (a, b) => saving(b) - saving(a) || RANK.indexOf(a.severity) - RANK.indexOf(b.severity),
  severity: (a, b) => RANK.indexOf(a.severity) - RANK.indexOf(b.severity) || saving(b) - saving(a) || 0,
};

for (const [name, order] of Object.entries(ORDERS)) {
  on("people", `the order by ${name} is the data's, filtered or not`, async (page, { document: { findings } }) => {
    const byId = new Map(findings.map((finding) => [finding.id, finding]));
    await page.selectOption("#sort", "detector");
    const before = await shown(page);
    await page.selectOption("#sort", name);
    const after = await shown(page);
    assert.notDeepEqual(after, before);
    assert.equal(after.length, findings.length);
    const inOrder = (all) => all.slice(1).every((id, at) => order(byId.get(all[at]), byId.get(id)) <= 0);
    assert.ok(inOrder(after), "not in order");
    assert.ok(!inOrder(before), "was in order all along: the test shows nothing");
    await page.selectOption('select[data-filter="kind"]', "waste");
    assert.deepEqual(await shown(page), after.filter((id) => byId.get(id).kind === "waste"));
    await page.selectOption("#sort", "detector");
    await page.selectOption('select[data-filter="kind"]', "");
    assert.deepEqual(await shown(page), before);
  });
}

on("people", "what is slow stands before the waste, each under its head", async (page, { document: { findings } }) => {
  await page.selectOption("#sort", "detector");
  const heads = await page.$$eval("#list > li", (items) => items.map(({ dataset }) => dataset.group ?? dataset.kind));
  const kinds = heads.filter((kind) => ["waste", "performance", "risk"].includes(kind));
  assert.equal(kinds.length, findings.length);
  assert.deepEqual(kinds.map((kind) => kind === "waste"), kinds.map((kind) => kind === "waste").toSorted());
  await page.selectOption('select[data-filter="kind"]', "risk");
  const left = await page.$$eval("[data-group]:not([hidden])", (groups) => groups.map((group) => group.id));
  assert.deepEqual(left.sort(), findings.filter((f) => f.kind === "risk").map((f) => `slow-${f.detector}`).sort());
});

on("people", "a group that is narrowed says of how many, and has no sum", async (page, { document: { findings } }) => {
  await page.selectOption("#sort", "detector");
  const group = page.locator("#in-ebs-unattached");
  const unattached = findings.filter((f) => f.detector === "ebs-unattached" && f.kind === "waste");
  const head = "^EBS volume on no instance ebs-unattached\\s+";
  const all = unattached.length;
  assert.match(await group.innerText(), new RegExp(`${head}${all} findings\\s+\\$[\\d,.]+$`));
  await page.selectOption('select[data-filter="severity"]', "high");
  const here = unattached.filter((f) => f.severity === "high").length;
  assert.match(await group.innerText(), new RegExp(`${head}${here} of ${all} findings$`));
  await page.selectOption('select[data-filter="severity"]', "");
  assert.match(await group.innerText(), /[\d,.]+$/);
});

on("people", "a print of some findings says which", async (page) => {
  await page.emulateMedia({ media: "print" });
  assert.equal(await page.isVisible("#narrowed"), false);
  await page.emulateMedia({ media: "screen" });
  await page.selectOption('select[data-filter="severity"]', "high");
  await page.fill("#search", " store-2 ");
  assert.equal(await page.isVisible("#narrowed"), false);
  await page.emulateMedia({ media: "print" });
  assert.equal(await page.innerText("#narrowed"), "severity: high; search: store-2");
});

on("people", "an opened finding tells its kind and its confidence apart", async (page, { document: { findings } }) => {
  const { id, kind, confidence } = findings.find((finding) => finding.kind === "risk");
  const row = page.locator(`[data-finding="${id}"]`);
  await row.locator("[data-toggle]").click();
  const told = await row.locator(".panel dl").last().evaluate((list) => {
    const names = [...list.querySelectorAll("dt")];
    return Object.fromEntries(names.map((name) => [name.textContent, name.nextSibling.textContent]));
  });
  assert.equal(told.Kind, kind);
  assert.equal(told.Confidence, confidence);
});

on("people", "the order by name goes from a to z", async (page, { document: { findings } }) => {
  await page.selectOption("#sort", "name");
  const names = new Map(findings.map((finding) => [finding.id, finding.resource.name]));
  const stores = (await shown(page)).map((id) => names.get(id)).filter((name) => name.startsWith("store-"));
  assert.deepEqual(stores, stores.toSorted(new Intl.Collator("en").compare));
});

on("people", "a link to a finding opens it and scrolls to it, every time", async (page, { document: { findings } }) => {
  for (const { id } of [findings.at(-1), findings.at(-9)]) {
    await page.evaluate((id) => (location.hash = id), id);
    const toggle = page.locator(`[data-finding="${id}"] [data-toggle]`);
    await page.locator(`[data-finding="${id}"] [data-toggle][aria-expanded="true"]`).waitFor();
    assert.ok(await inView(toggle), `${id} is out of view`);
  }
});

const drawn = ({ findings }) => findings.find((finding) => finding.detector === "efs-credits-draining").id;
on("people", "a report that is opened by a link to a finding shows it, drawn", async (page, { document }) => {
  const row = page.locator(`[data-finding="${drawn(document)}"]`);
  assert.equal(await row.locator("[data-toggle]").getAttribute("aria-expanded"), "true");
  assert.ok(await inView(row.locator("[data-toggle]")), "out of view");
  assert.ok(await row.locator(".chart canvas").isVisible());
}, { hash: (document) => `#${drawn(document)}` });

on("people", "a link to a finding shows it even if the filters hide it", async (page, { document: { findings } }) => {
  await page.fill("#search", "no such thing");
  await page.evaluate((id) => (location.hash = id), findings[3].id);
  const row = page.locator(`[data-finding="${findings[3].id}"]`);
  await row.locator('[data-toggle][aria-expanded="true"]').waitFor();
  assert.ok(await row.isVisible());
  await showsOnly(page, findings, findings.length);
});

for (const hash of ["#nobody", "#%", "#__proto__", "#<img src=x onerror=window.hacked=1>", "#details"]) {
  on("people", `the link ${hash} leads nowhere, and harms nothing`, async (page, { document: { findings } }) => {
    await showsOnly(page, findings, findings.length);
    assert.equal(await page.locator('[data-toggle][aria-expanded="true"]').count(), 0);
  }, { hash: () => hash });
}

async function inView(locator) {
  return locator.evaluate((element) => {
    const { top, bottom } = element.getBoundingClientRect();
    return top >= 0 && bottom <= innerHeight;
  });
}

const focused = (page) =>
  page.evaluate(() => {
    const { id, dataset, tagName } = document.activeElement;
    return id || dataset.filter || ("toggle" in dataset ? "toggle" : tagName);
  });

on("people", "the keyboard reaches search, filters and findings in this order, and shows where it is", async (page) => {
  const reached = [];
  for (let pressed = 0; pressed < 120 && reached.at(-1) !== "toggle"; pressed += 1) {
    await page.keyboard.press("Tab");
    reached.push(await focused(page));
    const ring = await page.evaluate(() => {
      const element = document.activeElement;
      return [element, ...["::before", "::after"].map((pseudo) => [element, pseudo])].some((of) => {
        const style = getComputedStyle(...[of].flat());
        return style.outlineStyle !== "none" && parseFloat(style.outlineWidth) > 0;
      });
    });
    assert.ok(ring, `${reached.at(-1)} has the focus, and does not show it`);
  }
  const filters = ["severity", "kind", "detector", "account", "region", "owner", "confidence"];
  const wanted = ["theme", "search", ...filters, "sort", "toggle"];
  assert.deepEqual(reached.filter((what) => wanted.includes(what)), wanted);
});

on("people", "the keyboard searches, filters, opens and closes", async (page, { document: { findings } }) => {
  await page.keyboard.press("/");
  assert.equal(await focused(page), "search");
  await page.keyboard.type("store-27/");
  assert.equal(await page.inputValue("#search"), "store-27/");
  await page.keyboard.press("Backspace");
  await showsOnly(page, findings.filter((f) => f.resource.name === "store-27"), findings.length);
  for (let pressed = 0; pressed < 20 && (await focused(page)) !== "toggle"; pressed += 1) {
    await page.keyboard.press("Tab");
  }
  const toggle = page.locator("[data-toggle]:focus");
  for (const [key, expanded] of [["Enter", "true"], ["Enter", "false"], [" ", "true"], [" ", "false"]]) {
    await page.keyboard.press(key);
    assert.equal(await toggle.getAttribute("aria-expanded"), expanded);
  }
  await page.keyboard.press("/");
  await page.keyboard.press("Escape");
  await showsOnly(page, findings, findings.length);
});

on("nothing", "a scan that found nothing says so", async (page) => {
  assert.equal(await page.locator("[data-finding]").count(), 0);
  assert.match(await page.textContent("h1"), /nothing found/i);
  assert.match(await page.textContent(".badge"), /^Scan complete/);
  assert.equal(await page.locator(".tabs, .fixes, .stop").count(), 0);
});

on("people", "the first tab has the waste by saving, the second the rest", async (page, { document: { findings } }) => {
  const waste = findings.filter(({ kind }) => kind === "waste");
  const first = await shown(page);
  assert.deepEqual([...first].sort(), ids(waste).sort());
  const byId = new Map(findings.map((finding) => [finding.id, saving(finding)]));
  assert.ok(first.every((id, at) => !at || byId.get(first[at - 1]) >= byId.get(id)), "not by saving");
  await page.click('[data-tab="other"]');
  await showsOnly(page, findings.filter(({ kind }) => kind !== "waste"), findings.length - waste.length);
  assert.equal(await page.getAttribute('[data-tab="other"]', "aria-pressed"), "true");
  await page.emulateMedia({ media: "print" });
  await page.locator('[data-tab=""][aria-pressed="true"]').waitFor({ state: "attached" });
  assert.equal((await shown(page)).length, findings.length, "a print has no tabs");
  await page.emulateMedia({ media: "screen" });
  await page.locator('[data-tab="other"][aria-pressed="true"]').waitFor({ state: "attached" });
  assert.equal((await shown(page)).length, findings.length - waste.length);
}, { tab: "first" });

on("people", "issues come by severity until the reader chooses an order", async (page, { document: { findings } }) => {
  const byId = new Map(findings.map((finding) => [finding.id, finding]));
  const inOrder = (all, order) => all.slice(1).every((id, at) => order(byId.get(all[at]), byId.get(id)) <= 0);
  await page.click('[data-tab="other"]');
  assert.equal(await page.inputValue("#sort"), "severity");
  assert.ok(inOrder(await shown(page), ORDERS.severity), "issues are not by severity");
  await page.click('[data-tab="waste"]');
  assert.equal(await page.inputValue("#sort"), "saving");
  assert.ok(inOrder(await shown(page), ORDERS.saving), "waste is not by saving");
  await page.selectOption("#sort", "name");
  await page.click('[data-tab="other"]');
  assert.equal(await page.inputValue("#sort"), "name");
}, { tab: "first" });

on("people", "a link to an issue leaves the tab that hides it", async (page, { document: { findings } }) => {
  const issue = findings.find(({ kind }) => kind === "performance");
  await page.evaluate((id) => (location.hash = id), issue.id);
  await page.locator(`[data-finding="${issue.id}"] [aria-expanded="true"]`).waitFor();
  await showsOnly(page, findings, findings.length);
}, { tab: "first" });

on("people", "bars of owners and of detectors lead to their findings", async (page, { document: { findings } }) => {
  await page.click('#by-owner + .bars [data-value="video"]');
  await showsOnly(page, findings.filter(({ owner }) => owner === "video"), findings.length);
  await page.locator('[data-narrow="detector"][data-value="ebs-unattached"]').first().click();
  await showsOnly(page, findings.filter(({ detector }) => detector === "ebs-unattached"), findings.length);
}, { tab: "first" });

on("people", "the filter by kind is there in the tab of all kinds alone", async (page, { document: { findings } }) => {
  const kind = page.locator('select[data-filter="kind"]');
  assert.equal(await kind.isVisible(), false);
  await page.click('[data-tab=""]');
  await kind.selectOption("risk");
  await page.click('[data-tab="waste"]');
  assert.equal(await kind.isVisible(), false);
  assert.equal((await shown(page)).length, findings.filter((finding) => finding.kind === "waste").length);
}, { tab: "first" });

on("people", "a phone folds the filters, and has short tabs in one row", async (page) => {
  const severity = page.locator('select[data-filter="severity"]');
  assert.equal(await severity.isVisible(), false);
  assert.equal(await page.isVisible("#search"), true);
  await page.getByRole("button", { name: "Filters", expanded: false }).click();
  await severity.selectOption("high");
  await page.getByRole("button", { name: "Filters", expanded: true }).click();
  assert.equal(await severity.isVisible(), false);
  const tabs = await page.$$eval("[data-tab]", (all) => all.map((tab) => [tab.innerText, tab.getBoundingClientRect().top]));
  assert.match(tabs[1][0], /^Performance \d+$/);
  assert.equal(new Set(tabs.map(([, top]) => top)).size, 1, "the tabs take two rows");
}, { tab: "first", viewport: PHONE, isMobile: true, hasTouch: true });

on("people", "on a phone what a top fix does takes the width below its price", async (page) => {
  const [box, does, gain] = await page.$eval(".fixes li", (fix) =>
    [fix, fix.querySelector(".does"), fix.querySelector(".gain")].map((one) => one.getBoundingClientRect().toJSON()),
  );
  assert.ok(does.top >= gain.bottom - 4, "it stands beside the price");
  assert.ok(does.width > 0.75 * box.width, `${does.width} of ${box.width} pixels`);
}, { viewport: PHONE, isMobile: true, hasTouch: true });

on("people", "the search and all filters stand in one row", async (page) => {
  const tops = await page.$$eval(".tools label", (all) =>
    all.filter((label) => label.checkVisibility()).map((label) => Math.round(label.getBoundingClientRect().top)),
  );
  assert.equal(tops.length, 8);
  assert.equal(new Set(tops).size, 1, `${tops}`);
}, { tab: "first" });

on("blind", "a scan that saw nothing does not say that all is well", async (page) => {
  assert.doesNotMatch(await page.textContent("h1"), /nothing found/i);
  assert.match(await page.textContent("#gaps"), /sts:AssumeRole[^]*AccessDenied/);
});
