(() => {
  "use strict";

  const PRINTED = 150; // charts in a print; more would take minutes, and nobody reads that many pages
  const PRINT_WIDTH = 760;
  const HEIGHT = 190;
  const DECADES = 1e4; // a logarithmic axis goes down to the peak divided by this, as in the other views
  const DAY = 86400;
  const RANK = { high: 0, medium: 1, low: 2, info: 3 };

  const one = (query, from = document) => from.querySelector(query);
  const all = (query, from = document) => [...from.querySelectorAll(query)];
  const root = document.documentElement;

  /** Return a new element. Strings inside become text nodes: names and tags are data, never markup. */
  function make(tag, attributes = {}, ...inside) {
    const made = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
    made.append(...inside);
    return made;
  }

  function counted(many, noun) {
    return `${many.toLocaleString("en-US")} ${noun}${many === 1 ? "" : "s"}`;
  }

  function number(value) {
    const whole = Math.abs(value) >= 1000 || Number.isInteger(value);
    return whole ? value.toLocaleString("en-US", { maximumFractionDigits: 0 }) : String(Number(value.toPrecision(4)));
  }

  const sentence = (words) => words[0].toUpperCase() + words.slice(1);
  const measure = (value, unit) => `${number(value)} ${unit}`.trimEnd();

  // ---- details, parsed on first use

  let read;
  function details() {
    read ??= JSON.parse(one("#details").textContent);
    return read;
  }
  const text = (at) => details().texts[at];
  const detail = (row) => details().findings[row.dataset.finding];

  // ---- the theme

  const theme = one("#theme");
  const prefersDark = matchMedia("(prefers-color-scheme: dark)");
  const isDark = () => (root.dataset.theme ? root.dataset.theme === "dark" : prefersDark.matches);

  function dress() {
    theme.textContent = isDark() ? "Light theme" : "Dark theme";
    redraw();
  }

  theme.addEventListener("click", () => {
    root.dataset.theme = isDark() ? "light" : "dark";
    dress();
    try {
      localStorage.setItem("slackwater-theme", root.dataset.theme);
    } catch {
      // a local file may have no storage: the choice then lasts until the page is closed
    }
  });
  prefersDark.addEventListener("change", dress);

  // ---- charts

  let printing = null;
  const drawn = new Map(); // element to its chart
  const resized = new ResizeObserver((entries) => {
    for (const { target, contentRect } of entries) {
      const chart = drawn.get(target)?.chart;
      if (chart && contentRect.width && Math.round(contentRect.width) !== chart.width && !printing) {
        chart.setSize({ width: Math.round(contentRect.width), height: HEIGHT });
      }
    }
  });

  function colors() {
    const probe = make("i");
    document.body.append(probe);
    const found = {};
    for (const name of ["ink", "soft", "rule", "tide", "level", "wash"]) {
      probe.className = `color-${name}`;
      found[name] = getComputedStyle(probe).color;
    }
    probe.remove();
    return found;
  }

  /** Return the times (seconds) and values of a curve. */
  function points({ start, period, values, at }) {
    let place = 0;
    return [values.map((_, i) => start + period * (at ? (place += at[i]) : i)), values];
  }

  const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
  const two = (value) => String(value).padStart(2, "0");
  function day(seconds) {
    const at = new Date(seconds * 1000);
    return `${at.getUTCDate()} ${MONTHS[at.getUTCMonth()]}`;
  }
  function clock(seconds) {
    const at = new Date(seconds * 1000);
    return `${two(at.getUTCHours())}:${two(at.getUTCMinutes())}`;
  }
  function moment(seconds, period) {
    const at = new Date(seconds * 1000);
    const date = `${at.getUTCFullYear()}-${two(at.getUTCMonth() + 1)}-${two(at.getUTCDate())}`;
    return period % DAY ? `${date} ${clock(seconds)}` : date;
  }

  /** Return the labels of a time axis. If its first tick is not at midnight, that tick also names the day. */
  function dated(ticks, step) {
    return ticks.map((at, i) => (step >= DAY || at % DAY === 0 ? day(at) : i ? clock(at) : `${clock(at)}\n${day(at)} UTC`));
  }

  /** Return the note for a last point whose period was not over. */
  const unfinished = ({ period }) => `last ${{ 3600: "hour", 86400: "day" }[period] ?? "period"} not over`;

  /** Return the value at the top of a chart, or the full value above it; empty if a level line shows it. */
  function fullHeight({ top, full, unit, lines = [] }) {
    if (full !== undefined) return `full, far above this picture: ${measure(full, unit)}`;
    return top === undefined || lines.some(([, level]) => level >= top) ? "" : `full height: ${measure(top, unit)}`;
  }

  /** Return a text description of a chart, for screen readers. */
  function told(label, chart) {
    const [times, values] = points(chart);
    const present = values.filter((value) => value !== null);
    const { unit, lines = [], forecast } = chart;
    const said = [
      `${label}, ${moment(times[0], chart.period)} to ${moment(times.at(-1), chart.period)} UTC`,
      `least ${measure(present.reduce((a, b) => Math.min(a, b)), unit)}`,
      `greatest ${measure(present.reduce((a, b) => Math.max(a, b)), unit)}`,
      `last ${measure(present.at(-1), unit)}`,
    ];
    if (chart.part) said.push(unfinished(chart));
    const height = fullHeight(chart);
    if (height) said.push(height);
    if (present.length < values.length) said.push("with gaps where nothing was published");
    for (const [name, value] of lines) said.push(`${name} ${measure(value, unit)}`);
    if (forecast) {
      const [ahead, expected] = points(forecast);
      const last = expected.findLastIndex((value) => value !== null);
      if (last >= 0) said.push(`forecast ${measure(expected[last], unit)} at ${moment(ahead[last], forecast.period)}`);
    }
    return said.join("; ");
  }

  /** Return the powers of ten in a range, at most eight of them, because there is no room for more. */
  function decades([low, high]) {
    const first = Math.ceil(Math.log10(low));
    const all = Array.from({ length: Math.floor(Math.log10(high)) - first + 1 }, (_, i) => Number(`1e${first + i}`));
    return all.filter((_, i) => i % Math.ceil(all.length / 8) === 0);
  }

  /** Return a hook that draws level lines. None is drawn below `deepest`, the low end of a logarithmic axis. */
  function levels(lines, hues, aside, deepest) {
    return (u) => {
      const { ctx, bbox } = u;
      const dot = devicePixelRatio;
      ctx.save();
      ctx.font = `${12 * dot}px system-ui, sans-serif`;
      ctx.fillStyle = hues.level;
      ctx.lineJoin = "round";
      let above = Infinity;
      let left = !aside;
      for (const [name, value] of [...lines].sort((a, b) => a[1] - b[1])) {
        const y = Math.round(u.valToPos(Math.max(value, deepest), "y", true)) + 0.5;
        ctx.strokeStyle = hues.level;
        ctx.lineWidth = dot;
        ctx.setLineDash([2 * dot, 3 * dot]);
        ctx.beginPath();
        ctx.moveTo(bbox.left, y);
        ctx.lineTo(bbox.left + bbox.width, y);
        ctx.stroke();
        left = above - y < 15 * dot ? !left : aside; // two labels that would touch are put at opposite ends
        above = y;
        ctx.textAlign = left ? "left" : "right";
        const inside = y - bbox.top > 16 * dot;
        ctx.textBaseline = inside ? "bottom" : "top";
        const at = [left ? bbox.left + 4 * dot : bbox.left + bbox.width - 4 * dot, y + (inside ? -3 : 3) * dot];
        ctx.strokeStyle = hues.sheet; // a halo keeps the label readable where the curve crosses it
        ctx.lineWidth = 4 * dot;
        ctx.setLineDash([]);
        ctx.strokeText(name, ...at);
        ctx.fillText(name, ...at);
      }
      ctx.restore();
    };
  }

  function draw(figure) {
    const { label, data: chart } = figure;
    const { unit, lines = [], forecast, top, log, part } = chart;
    const element = figure.element;
    const hues = { ...colors(), sheet: getComputedStyle(element.parentElement).backgroundColor };
    const solid = points(chart);
    const ends = solid[1].length - 1;
    const over = part ? [solid[0], solid[1].map((value, i) => (i < ends ? value : null))] : solid;
    const curves = [over];
    const notes = [""];
    const dashed = (curve, note) => (curves.push(curve), notes.push(note));
    if (part) dashed(solid.map((each) => each.slice(-2)), `, ${unfinished(chart)}`);
    if (forecast) {
      const [times, values] = points(forecast);
      const last = solid[1].findLastIndex((value) => value !== null);
      const joined = times[0] > solid[0][last]; // connect the forecast to the end of the line
      dashed(joined ? [[solid[0][last], ...times], [solid[1][last], ...values]] : [times, values], ", forecast");
    }
    const data = curves.length > 1 ? uPlot.join(curves) : over;
    const marks = [...solid[1], ...(forecast?.values ?? []), ...lines.map(([, value]) => value)].filter((value) => value !== null);
    const low = marks.reduce((a, b) => Math.min(a, b), 0);
    const peak = marks.reduce((a, b) => Math.max(a, b), top ?? 0);
    const positive = marks.filter((value) => value > 0).reduce((a, b) => Math.min(a, b), Infinity);
    const greatest = [...solid[1], ...(forecast?.values ?? [])].reduce((a, b) => Math.max(a, b ?? a), 0);
    const range = log // the smallest value stays above the axis
      ? [10 ** Math.floor(Math.log10(Math.max(positive, greatest / DECADES) / 2)), peak * 1.5]
      : [low, low + (peak - low) * (peak === top ? 1.02 : 1.06) || 1];
    const heights = log ? data.map((values, i) => (i ? values.map((value) => (value == null ? value : Math.max(value, range[0]))) : values)) : data;
    const lone = (u, at) => {
      const values = u.data[at];
      return values.flatMap((value, i) => (value != null && values[i - 1] == null && values[i + 1] == null ? [i] : []));
    };
    const axis = {
      stroke: hues.soft,
      font: "12px system-ui, sans-serif", // uPlot needs whole pixels
      grid: { stroke: hues.rule, width: 1 },
      ticks: { stroke: hues.rule, width: 1, size: 4 },
      gap: 4,
    };
    const compact = new Intl.NumberFormat("en-US", { notation: "compact", maximumSignificantDigits: 4 });
    const line = (extra) => ({
      stroke: hues.tide,
      width: 1.6,
      points: { show: lone, filter: lone, size: 4, fill: hues.tide },
      ...extra,
    });
    const u = new uPlot(
      {
        width: printing ? PRINT_WIDTH : Math.round(element.clientWidth),
        height: HEIGHT,
        tzDate: (seconds) => uPlot.tzDate(new Date(seconds * 1000), "UTC"),
        legend: { show: false },
        cursor: { y: false, drag: { x: false, y: false }, points: { size: 6 } },
        scales: { y: { range, distr: log ? 3 : 1 } },
        axes: [
          {
            ...axis,
            size: (_, ticks) => (ticks?.some((tick) => tick.includes("\n")) ? 44 : 28),
            space: 64,
            values: (_, ticks, __, ___, step) => dated(ticks, step),
          },
          {
            ...axis,
            label: unit || undefined,
            labelSize: unit ? 18 : 0,
            labelFont: "12px system-ui, sans-serif",
            labelGap: 0,
            space: 30,
            ...(log ? { splits: () => decades(range), filter: (_, ticks) => ticks } : {}),
            size: (_, ticks) => 14 + 7 * Math.max(...(ticks ?? [""]).map((tick) => tick.length), 1),
            values: (_, ticks) => ticks.map((tick) => compact.format(tick)),
          },
        ],
        series: [{}, line({ fill: hues.wash }), ...notes.slice(1).map(() => line({ dash: [5, 4] }))],
        hooks: {
          draw: lines.length ? [levels(lines, hues, Boolean(forecast), log ? range[0] : -Infinity)] : [],
          setCursor: [
            ({ cursor: { idx } }) => {
              const curve = idx == null ? -1 : data.findIndex((values, i) => i && values[idx] != null);
              figure.readout.textContent =
                idx == null
                  ? "\u00a0"
                  : `${moment(data[0][idx], chart.period)} UTC: ${curve < 0 ? "nothing published" : measure(data[curve][idx], unit) + notes[curve - 1]}`;
            },
          ],
        },
      },
      heights,
      element,
    );
    u.batch(() => {}); // paint now: printing does not wait for uPlot's own task
    element.setAttribute("aria-label", told(label, chart));
    drawn.set(element, { chart: u, figure });
    resized.observe(element);
  }

  function erase(element) {
    drawn.get(element)?.chart.destroy();
    drawn.delete(element);
    resized.unobserve(element);
  }

  function redraw() {
    for (const [element, { figure }] of [...drawn]) {
      erase(element);
      if (element.isConnected) draw(figure);
    }
  }

  // ---- details of a finding

  const figures = new WeakMap(); // panel to its figures

  function panel(row) {
    const found = one(".panel", row);
    if (found) return found;
    const { arn, tags, evidence, advice, caveats, prices, fingerprint } = detail(row);
    const made = make("div", { class: "panel", id: `${row.id}-panel`, hidden: "" });
    figures.set(made, []);
    const part = (title, ...inside) => made.append(make("section", {}, make("h4", {}, title), ...inside));

    const pictures = evidence.filter(([, , chart]) => chart);
    const words = evidence.filter(([, , chart]) => !chart);
    if (evidence.length) part("Evidence", ...pictures.map((fact) => picture(made, fact)), ...(words.length ? [table(words)] : []));
    if (advice.length) part("Options", make("ol", { class: "advice" }, ...advice.map(advised)));
    const list = (items, name = "") => make("ul", { class: name }, ...items.map((at) => make("li", {}, make("bdi", {}, text(at)))));
    if (caveats.length) part("Caveats", list(caveats));
    if (prices.length) part("Prices", list(prices, "prices"));
    const { account, region, owner, kind, confidence } = row.dataset;
    const facts = { ARN: text(arn), Account: account, Region: region, Owner: owner, Kind: kind, Confidence: confidence };
    const about = make("dl", {});
    for (const [name, value] of Object.entries(facts)) about.append(make("dt", {}, name), make("dd", {}, make("bdi", {}, value)));
    about.append(make("dt", {}, "Tags"), make("dd", {}, ...tagged(tags)));
    const link = make("a", { href: `#${encodeURIComponent(row.id)}` }, row.id);
    about.append(make("dt", {}, "Finding"), make("dd", {}, link, ` fingerprint ${fingerprint}`));
    part("Resource", about);
    row.append(made);
    one("[data-toggle]", row).setAttribute("aria-controls", made.id);
    return made;
  }

  function tagged(tags) {
    if (tags === null) return ["could not be read"];
    if (!tags.length) return ["none"];
    return tags.map(([key, value]) => {
      return make("span", { class: "tag" }, make("bdi", {}, text(key)), "=", make("bdi", {}, text(value)));
    });
  }

  function table(facts) {
    const rows = facts.map(([label, value]) =>
      make("tr", {}, make("th", { scope: "row" }, make("bdi", {}, text(label))), make("td", {}, make("bdi", {}, text(value)))),
    );
    return make("table", { class: "facts" }, make("tbody", {}, ...rows));
  }

  function picture(owner, [label, value, chart]) {
    const caption = make("figcaption", {}, make("b", {}, make("bdi", {}, text(label))), " ", make("bdi", {}, text(value)));
    const key = make("ul", { class: "key" });
    for (const [name, level] of chart.lines ?? []) {
      key.append(make("li", { class: "level" }, `${name}: ${measure(level, chart.unit)}`));
    }
    if (chart.forecast) key.append(make("li", { class: "forecast" }, "Forecast"));
    if (chart.part) key.append(make("li", { class: "forecast" }, sentence(unfinished(chart))));
    if (chart.log) key.append(make("li", {}, chart.values.includes(0) ? "Logarithmic, with zero at the foot" : "Logarithmic"));
    const height = fullHeight(chart);
    if (height) key.append(make("li", {}, sentence(height)));
    if (chart.of) {
      key.append(make("li", {}, `${counted(chart.values.length, "point")} of ${chart.of.toLocaleString("en-US")}, peaks kept`));
    }
    const element = make("div", { class: "chart", role: "img", "aria-label": text(label) });
    const readout = make("p", { class: "readout", "aria-hidden": "true" }, "\u00a0");
    const data = make("details", { class: "data" }, make("summary", {}, "Data"));
    data.addEventListener("toggle", () => data.children.length > 1 || data.append(numbers(text(label), chart)));
    figures.get(owner).push({ element, readout, label: text(label), data: chart });
    return make("figure", {}, caption, ...(key.children.length ? [key] : []), element, readout, data);
  }

  function numbers(label, chart) {
    const body = make("tbody");
    const add = ([times, values], period, note) =>
      times.forEach((at, i) => {
        const value = values[i] === null ? "nothing published" : `${number(values[i])}${note(i)}`;
        body.append(make("tr", {}, make("th", { scope: "row" }, moment(at, period)), make("td", { class: "number" }, value)));
      });
    add(points(chart), chart.period, (i) => (chart.part && i === chart.values.length - 1 ? ` (${unfinished(chart)})` : ""));
    if (chart.forecast) add(points(chart.forecast), chart.forecast.period, () => " (forecast)");
    const head = make("tr", {}, make("th", { scope: "col" }, "UTC"), make("th", { scope: "col", class: "number" }, chart.unit || label));
    const made = make("table", {}, make("thead", {}, head), body);
    return make("div", { class: "numbers", role: "region", "aria-label": `Data: ${label}`, tabindex: "0" }, made);
  }

  function advised([summary, saving, undo, risk, command]) {
    const made = make("li", {}, make("p", {}, make("bdi", {}, text(summary))));
    made.append(make("p", { class: "terms" }, make("b", {}, text(saving)), make("span", {}, text(undo))));
    made.append(make("p", { class: "risk" }, make("b", {}, "Risk"), " ", make("bdi", {}, text(risk))));
    if (command !== undefined) made.append(commanded(text(command)));
    return made;
  }

  function commanded(command) {
    const code = make("code", { dir: "ltr" }, command);
    const copy = make("button", { type: "button", class: "copy" }, "Copy");
    copies(copy, code);
    return make("div", { class: "command" }, make("pre", { tabindex: "0", role: "region", "aria-label": "Command" }, code), copy);
  }

  function copies(button, code) {
    button.addEventListener("click", async () => {
      button.textContent = (await copied(code)) ? "Copied" : "Select and copy";
      setTimeout(() => (button.textContent = "Copy"), 2000);
    });
  }

  for (const button of all("[data-copy]")) copies(button, one("code", button.parentElement));

  async function copied(code) {
    try {
      await navigator.clipboard.writeText(code.textContent);
      return true;
    } catch {
      getSelection().selectAllChildren(code); // no clipboard permission: fall back to the browser's copy command
      return document.execCommand("copy");
    }
  }

  function open(row, wanted = true) {
    const made = wanted ? panel(row) : one(".panel", row);
    if (!made) return;
    made.hidden = !wanted;
    row.classList.toggle("opened", wanted);
    one("[data-toggle]", row).setAttribute("aria-expanded", String(wanted));
    if (wanted) show(made);
  }

  function show(made) {
    for (const figure of figures.get(made)) if (!drawn.has(figure.element)) draw(figure);
  }

  // ---- search, filters, order

  const list = one("#list");
  const rows = list ? all("[data-finding]", list) : [];
  const groups = list ? all("[data-group]", list) : [];
  const search = one("#search");
  const sort = one("#sort");
  const filters = all("select[data-filter]");
  const shown = one("#shown");
  const clear = one("#clear");
  const tabs = all("[data-tab]");
  let tab = tabs.length ? "waste" : "";
  let chosen = false; // whether the reader chose an order; it then stays the same on all tabs

  function turn(to) {
    tab = tabs.length ? to : "";
    for (const each of tabs) each.setAttribute("aria-pressed", String(each.dataset.tab === tab));
    hideKind();
    const usual = tab === "other" ? "severity" : "saving";
    if (chosen || sort.value === usual) return narrow();
    sort.value = usual;
    order();
  }

  /** Show the filter by kind only on the tab "All": the other tabs are limited to one or two kinds. */
  function hideKind() {
    const kind = filters.find((filter) => filter.dataset.filter === "kind");
    if (!kind) return;
    kind.parentElement.hidden = Boolean(tab);
    if (tab) kind.value = "";
  }

  let haystacks;
  function haystack(row) {
    haystacks ??= new Map();
    if (!haystacks.has(row)) {
      const { arn, tags } = detail(row);
      const { account, region, owner, detector } = row.dataset;
      const tagged = (tags ?? []).map(([key, value]) => `${text(key)}=${text(value)}`);
      const words = [one(".row", row).textContent, row.id, text(arn), account, region, owner, detector, ...tagged];
      haystacks.set(row, words.join("\n").normalize("NFKC").toLowerCase());
    }
    return haystacks.get(row);
  }

  function narrow() {
    const words = search.value.normalize("NFKC").toLowerCase().split(/\s+/).filter(Boolean);
    const wanted = filters.filter((filter) => filter.value).map((filter) => [filter.dataset.filter, filter.value]);
    const fitting = (found, [name, value]) => found === value || (name === "unit" && found.startsWith(`${value}/`)); // includes the units below
    const inTab = (row) => !tab || (row.dataset.kind === "waste") === (tab === "waste");
    const matches = (row) => inTab(row) && wanted.every((filter) => fitting(row.dataset[filter[0]], filter)) && words.every((word) => haystack(row).includes(word));
    const of = new Map();
    const ofTab = rows.filter(inTab).length;
    let many = 0;
    for (const row of rows) {
      const fits = matches(row);
      if (row.hidden === fits) row.hidden = !fits;
      if (fits) {
        many += 1;
        of.set(groupOf.get(row), (of.get(groupOf.get(row)) ?? 0) + 1);
      }
    }
    for (const group of groups) {
      const here = of.get(group) ?? 0;
      group.hidden = !here || sort.value !== "detector";
      const total = Number(group.dataset.total);
      one(".many + *", group).hidden = here !== total && !one(".kinds", group); // the sum counts the whole group
      one(".many", group).textContent = here === total ? counted(total, "finding") : `${here.toLocaleString("en-US")} of ${counted(total, "finding")}`;
    }
    one("#empty").hidden = many > 0;
    clear.hidden = !words.length && !wanted.length;
    one("#narrowed").textContent = [...wanted.map(([name, value]) => `${name}: ${value}`), ...(words.length ? [`search: ${search.value.trim()}`] : [])].join("; ");
    const text = many === ofTab ? counted(many, "finding") : `${many.toLocaleString("en-US")} of ${counted(ofTab, "finding")}`;
    if (shown.textContent !== text) shown.textContent = text;
  }

  const usd = (row) => ("saving" in row.dataset ? Number(row.dataset.saving) : -Infinity); // unknown comes last
  const names = new Intl.Collator("en");
  const name = (row) => one("[data-toggle]", row).textContent;
  const dearer = (a, b) => (usd(b) === usd(a) ? 0 : usd(b) - usd(a));
  const graver = (a, b) => RANK[a.dataset.severity] - RANK[b.dataset.severity];
  const orders = {
    severity: (a, b) => graver(a, b) || dearer(a, b),
    name: (a, b) => names.compare(name(a), name(b)) || dearer(a, b),
  };

  function order() {
    const by = orders[sort.value];
    list.classList.toggle("by-detector", sort.value === "detector");
    const after = list.nextSibling;
    const around = list.parentNode;
    list.remove(); // while attached, each moved row would make the browser recompute the styles of all later rows
    list.replaceChildren(...(sort.value === "detector" ? grouped() : [...groups, ...(by ? [...rows].sort(by) : rows)]));
    around.insertBefore(list, after);
    narrow();
  }

  /** Return each group, followed by its findings in their present order. */
  function grouped() {
    const members = new Map(groups.map((group) => [group, [group]]));
    for (const row of rows) members.get(groupOf.get(row)).push(row);
    return [...members.values()].flat();
  }

  const groupById = new Map(groups.map((group) => [group.id, group]));
  const groupOf = new Map(rows.map((row) => [row, groupById.get(`${row.dataset.kind === "waste" ? "in" : "slow"}-${row.dataset.detector}`)]));
  for (const group of groups) group.dataset.total = String(rows.filter((row) => groupOf.get(row) === group).length);

  function reset() {
    search.value = "";
    for (const filter of filters) filter.value = "";
    narrow();
  }

  function follow() {
    const target = document.getElementById(decoded(location.hash.slice(1)));
    if (!target || !list?.contains(target)) return;
    if (target.dataset.group && sort.value !== "detector") {
      sort.value = "detector";
      chosen = true;
      order();
    }
    if (target.hidden) {
      reset();
      turn("");
    }
    if (target.dataset.finding) {
      open(target);
      one("[data-toggle]", target).focus({ preventScroll: true });
    }
    target.scrollIntoView();
  }

  function decoded(hash) {
    try {
      return decodeURIComponent(hash);
    } catch {
      return hash;
    }
  }

  if (list) {
    list.addEventListener("click", (event) => {
      const toggle = event.target.closest("[data-toggle]");
      if (toggle) open(toggle.closest("[data-finding]"), toggle.getAttribute("aria-expanded") !== "true");
    });
    search.addEventListener("input", narrow);
    for (const filter of filters) filter.addEventListener("change", narrow);
    sort.addEventListener("change", () => {
      chosen = true;
      order();
    });
    for (const each of tabs) each.addEventListener("click", () => turn(each.dataset.tab));
    one("#filters").addEventListener("click", ({ target }) => {
      target.setAttribute("aria-expanded", String(target.getAttribute("aria-expanded") !== "true"));
    });
    clear.addEventListener("click", () => {
      reset();
      search.focus();
    });
    document.addEventListener("keydown", (event) => {
      if (event.key === "Escape" && event.target === search) reset();
      if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey || /^(input|select|textarea)$/i.test(event.target.tagName)) return;
      event.preventDefault();
      search.focus();
      search.select();
    });
    addEventListener("hashchange", follow);
    document.addEventListener("click", (event) => {
      const link = event.target.closest("[data-narrow]");
      if (!link) return;
      search.value = "";
      for (const filter of filters) filter.value = filter.dataset.filter === link.dataset.narrow ? link.dataset.value : "";
      turn("");
    });
  }

  // ---- print: the visible findings, opened, in the light theme

  function prepare() {
    if (printing) return;
    printing = { theme: root.dataset.theme, made: [], tab };
    root.dataset.theme = "light";
    if (list) turn(""); // a print has no tabs
    let room = PRINTED;
    for (const row of rows) {
      if (row.hidden) continue;
      if (!one(".panel", row)) printing.made.push(row);
      const made = panel(row);
      if (room > 0) show(made);
      else for (const { element } of figures.get(made)) if (!drawn.has(element)) element.textContent = `Not drawn: a print has ${PRINTED} pictures.`;
      room -= figures.get(made).length;
    }
    redraw();
  }

  function restore() {
    if (!printing) return;
    const { theme: before, made, tab: turned } = printing;
    printing = null;
    if (list) turn(turned);
    if (before) root.dataset.theme = before;
    else delete root.dataset.theme;
    for (const row of made) {
      for (const element of all(".chart", row)) erase(element);
      one(".panel", row).remove();
      one("[data-toggle]", row).removeAttribute("aria-controls");
    }
    redraw();
  }

  addEventListener("beforeprint", prepare);
  addEventListener("afterprint", restore);
  matchMedia("print").addEventListener("change", ({ matches }) => (matches ? prepare() : restore()));

  // ---- begin

  dress();
  if (list) {
    hideKind();
    chosen = sort.value !== "saving"; // a browser may restore form values after a reload
    if (chosen) order();
    else narrow();
    follow();
  }
})();
