// Times in the zone of the browser instead of UTC, by a choice that the browser keeps.
//
//   <time datetime="…" data-form="full|clock">: is written in that zone; one without a form is in words
//   data-zone on an element: its text is the name of the zone
//   <button id="times" hidden>: is shown, and changes the choice

const storage = "gatehouse-times";
const button = document.getElementById("times");
const day = { day: "numeric", month: "short" };
const clock = { hour: "2-digit", minute: "2-digit", second: "2-digit", hourCycle: "h23" };
const forms = { full: { ...day, year: "numeric", ...clock }, clock: { ...day, ...clock } };
for (const [name, options] of Object.entries(forms)) {
	forms[name] = new Intl.DateTimeFormat("en-GB", options);
}
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

function toLocal(element) {
	if (element.hasAttribute("data-zone")) {
		write(element, zoneAt(new Date()));
		return;
	}
	const date = new Date(element.dateTime);
	const form = element.dataset.form;
	write(element, forms[form].format(date).replaceAll(",", "") + (form === "full" ? ` ${zoneAt(date)}` : ""));
}

function toUTC(element) {
	if (original.has(element)) {
		element.textContent = original.get(element);
	}
}

const times = "time[data-form=full], time[data-form=clock], [data-zone]";

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
