// Times in the zone of the browser instead of UTC, by a choice that the browser keeps.
//
//   <time datetime="…" data-form="full|clock|day|time|minute">: is written in that zone; one without a form is in words
//   .day around the day of a row: is hidden where the row before has the same
//   data-zone on an element: its text is the name of the zone
//   data-at="…" on a label of a chart's axis: is the time of day
//   data-from="…" data-step="SECONDS" around the tooltips of a chart's steps: their first line is the time
//   <button id="times" hidden>: is shown, and changes the choice

const storage = "gatehouse-times";
const button = document.getElementById("times");
const day = { day: "numeric", month: "short" };
const clock = { hour: "2-digit", minute: "2-digit", second: "2-digit", hourCycle: "h23" };
const forms = {
	full: { ...day, year: "numeric", ...clock },
	clock: { ...day, ...clock },
	day,
	time: clock,
	minute: { weekday: "short", ...day, year: "numeric", hour: "2-digit", minute: "2-digit", hourCycle: "h23" },
};
for (const [name, options] of Object.entries(forms)) {
	forms[name] = new Intl.DateTimeFormat("en-GB", options);
}
const minute = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit", hourCycle: "h23" });
const weekday = new Intl.DateTimeFormat("en-GB", { weekday: "short", day: "numeric" });
const fullDay = new Intl.DateTimeFormat("en-GB", { weekday: "short", ...day, year: "numeric" });
const zones = new Intl.DateTimeFormat("en-GB", { timeZoneName: "short" });

// The text of the server, for the way back.
const original = new WeakMap();

function zoneAt(date) {
	return zones.formatToParts(date).find((part) => part.type === "timeZoneName").value;
}

function write(element, text) {
	if (!original.has(element)) {
		original.set(element, element.textContent);
	}
	element.textContent = text;
}

function plain(format, date) {
	return format.format(date).replaceAll(",", "");
}

// The tooltips of a chart's steps, with the times where the steps begin and end.
function tooltips(steps) {
	const from = Date.parse(steps.dataset.from);
	const length = 1000 * Number(steps.dataset.step);
	return [...steps.querySelectorAll("title")].map((title, i) => [title, new Date(from + i * length), new Date(from + (i + 1) * length)]);
}

function toLocal(element) {
	if (element.hasAttribute("data-zone")) {
		write(element, zoneAt(new Date()));
		return;
	}
	if (element.hasAttribute("data-at")) {
		const date = new Date(element.dataset.at);
		const text = minute.format(date);
		write(element, text === "00:00" ? plain(weekday, date) : text);
		return;
	}
	if (element.hasAttribute("data-from")) {
		tooltips(element).forEach(([title, from, to]) => {
			const rest = title.textContent.split("\n").slice(1);
			write(title, [`${plain(fullDay, from)}, ${minute.format(from)}–${minute.format(to)} ${zoneAt(from)}`, ...rest].join("\n"));
		});
		return;
	}
	const date = new Date(element.dateTime);
	const form = element.dataset.form;
	write(element, plain(forms[form], date) + (form === "full" ? ` ${zoneAt(date)}` : ""));
}

function toUTC(element) {
	if (element.hasAttribute("data-from")) {
		tooltips(element).forEach(([title]) => toUTC(title));
	}
	if (original.has(element)) {
		element.textContent = original.get(element);
	}
}

const times = "time[data-form], [data-zone], text[data-at], .hits[data-from]";

let local = false;
try {
	local = localStorage.getItem(storage) === "local";
} catch {
	// A browser that keeps nothing begins with UTC.
}

function show(root) {
	const own = root.matches?.(times) ? [root] : [];
	for (const element of [...own, ...root.querySelectorAll(times)]) {
		(local ? toLocal : toUTC)(element);
	}
	for (const table of document.querySelectorAll("table.rows")) {
		sayDaysOnce([...table.querySelectorAll(".day")]);
	}
}

function sayDaysOnce(days) {
	days.forEach((day, i) => {
		day.hidden = i > 0 && day.textContent === days[i - 1].textContent;
	});
}

// Parts that are read again come with the times of the server.
new MutationObserver((changes) => {
	for (const node of local ? changes.flatMap((change) => [...change.addedNodes]) : []) {
		if (node.nodeType === Node.ELEMENT_NODE) {
			show(node);
		}
	}
}).observe(document.body, { childList: true, subtree: true });

if (button && Intl.DateTimeFormat().resolvedOptions().timeZone !== "UTC") {
	button.hidden = false;
	button.setAttribute("aria-pressed", String(local));
	button.addEventListener("click", () => {
		local = !local;
		button.setAttribute("aria-pressed", String(local));
		try {
			localStorage.setItem(storage, local ? "local" : "utc");
		} catch {
			// The choice then ends with the page.
		}
		show(document);
	});
	show(document);
}
