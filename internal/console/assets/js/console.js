// What pages do better with JavaScript. Each works without it.
//
//   data-live="SECONDS" on a part with an id: the part is read again while the page is visible.
//   data-copy="ID" on a hidden button: shows the button, which copies the text of that element.
//   data-submit on a form: the form is sent when a choice in it changes.

import { readCharts } from "./chart.js";

// A page is read again as a document of its own, so that no text ever becomes HTML here: the
// Content-Security-Policy allows no such thing.
function load(url) {
	return new Promise((resolve, reject) => {
		const request = new XMLHttpRequest();
		request.open("GET", url);
		request.responseType = "document";
		request.setRequestHeader("Gatehouse-Live", "1");
		request.onload = () => {
			const same = request.responseURL.split("?")[0] === location.href.split(/[?#]/)[0];
			if (request.status === 200 && same) {
				resolve(request.response);
			} else if (!leaves(request)) {
				reject(new Error(`HTTP ${request.status}`));
			}
		};
		request.onerror = reject;
		request.send();
	});
}

// Reading a page again does not keep the session: once it has ended, the answer is that of the sign-in,
// where a browser is led by itself. The page then goes there too, and says so to whom it may not be
// shown any more.
function leaves(request) {
	const out = request.responseURL !== "" && new URL(request.responseURL).pathname === "/console/sign-in";
	if (out) {
		location.replace(request.responseURL);
	} else if (request.status === 403) {
		location.reload();
	}
	return out || request.status === 403;
}

// slowest is the longest pause after failures, in seconds.
const slowest = 60;

async function keepLive(parts) {
	const every = Math.min(...parts.map((part) => Number(part.dataset.live)));
	let pause = every;
	for (;;) {
		await new Promise((resolve) => setTimeout(resolve, pause * 1000));
		while (document.hidden) {
			await new Promise((resolve) => document.addEventListener("visibilitychange", resolve, { once: true }));
		}
		try {
			replaceLive(await load(location.href));
			pause = every;
		} catch {
			pause = Math.min(2 * pause, slowest);
		}
	}
}

// A part that has the focus, or a selection, is left as it is until the next time.
function replaceLive(fresh) {
	for (const part of document.querySelectorAll("[data-live][id]")) {
		const replacement = fresh.getElementById(part.id);
		const selected = !getSelection().isCollapsed && getSelection().containsNode(part, true);
		if (replacement && !part.contains(document.activeElement) && !selected) {
			const scrolled = [...part.querySelectorAll(".scroll")].map((box) => box.scrollLeft);
			part.replaceWith(document.adoptNode(replacement));
			showCopy(replacement);
			readCharts(replacement);
			replacement.querySelectorAll(".scroll").forEach((box, i) => { box.scrollLeft = scrolled[i] ?? 0; });
		}
	}
}

const live = [...document.querySelectorAll("[data-live][id]")];
if (live.length > 0) {
	keepLive(live);
}

// Only a secure context may write into the clipboard: elsewhere the buttons stay hidden.
function showCopy(root) {
	for (const button of navigator.clipboard ? root.querySelectorAll("button[data-copy]") : []) {
		button.hidden = false;
	}
}
showCopy(document);

document.addEventListener("click", async (event) => {
	const button = event.target.closest("button[data-copy]");
	if (!button || button.firstChild.data === "Copied") {
		return;
	}
	await navigator.clipboard.writeText(document.getElementById(button.dataset.copy).textContent.trim());
	const name = button.firstChild.data;
	button.firstChild.data = "Copied";
	setTimeout(() => { button.firstChild.data = name; }, 2000);
});

for (const form of document.querySelectorAll("form[data-submit]")) {
	form.addEventListener("change", (event) => {
		if (event.target.matches("select, input[type=checkbox], input[type=radio]")) {
			form.requestSubmit();
		}
	});
}
