// The page of a recording: noVNC shows what a server of RFB plays, see the package replay. Orders go to it
// as text for the clipboard, and its state comes as the name of the desktop.

import RFB from "../novnc/core/rfb.js";

const page = document.getElementById("replay");
const control = (name) => page.querySelector(`[data-control="${name}"]`);
const [at, play, speed, skip, full] = ["at", "play", "speed", "skip", "full-screen"].map(control);
const say = (text) => { page.querySelector(".state").textContent = text; };
const step = 5000; // of an arrow key, in milliseconds

let state = null; // the last from the gateway
let since = 0; // when it came
let dragged = false; // the slider is in somebody's hand

const socket = new WebSocket(page.dataset.socket, "gatehouse.vnc.1");
socket.binaryType = "arraybuffer";
const rfb = new RFB(page.querySelector(".screen"), socket, { shared: true });
rfb.viewOnly = true;
rfb.scaleViewport = true;
rfb.addEventListener("connect", () => {
	const picture = page.querySelector("canvas");
	picture.setAttribute("role", "img");
	picture.setAttribute("aria-label", `What ${page.dataset.name} showed`);
});
rfb.addEventListener("desktopname", (event) => {
	if (event.detail.name.startsWith("{")) {
		follow(JSON.parse(event.detail.name));
	}
});
socket.addEventListener("close", (event) => {
	for (const each of page.querySelectorAll("[data-control]")) {
		each.disabled = true;
	}
	state = null;
	say(event.reason || "The connection is lost. Load the page again.");
});

// order sends what is to change: ClientCutText (RFC 6143, section 7.5.6).
function order(wish) {
	const text = new TextEncoder().encode(JSON.stringify(wish));
	const message = new Uint8Array(8 + text.length);
	message[0] = 6;
	new DataView(message.buffer).setUint32(4, text.length);
	message.set(text, 8);
	socket.send(message);
}

// position is the moment that is shown, in milliseconds.
function position() {
	const passed = state.playing && !state.seeking ? (performance.now() - since) * state.speed : 0;
	return Math.min(state.at + passed, Number(at.max));
}

const clock = (ms) => {
	const s = Math.floor(ms / 1000);
	const [hours, minutes, seconds] = [Math.floor(s / 3600), Math.floor(s / 60) % 60, s % 60].map((n) => String(n).padStart(2, "0"));
	return hours === "00" ? `${minutes}:${seconds}` : `${hours}:${minutes}:${seconds}`;
};

function follow(next) {
	if (next.outline) {
		outline(next.outline);
	}
	state = next;
	since = performance.now();
	play.textContent = state.playing ? "Pause" : "Play";
	say(state.seeking ? `Reading up to this moment: ${clock(state.reached)}.` : state.note || (state.playing ? "Playing." : "Paused."));
	show();
}

// outline is the first that comes.
function outline({ length, marks, more }) {
	at.max = length;
	for (const each of page.querySelectorAll("[data-control]")) {
		each.disabled = false;
	}
	skip.dispatchEvent(new Event("change"));
	const ticks = page.querySelector("svg");
	const section = document.getElementById("marks");
	for (const mark of marks) {
		const tick = document.createElementNS("http://www.w3.org/2000/svg", "rect");
		tick.setAttribute("x", `${100 * mark.at / Math.max(length, 1)}%`);
		tick.setAttribute("width", "2");
		tick.setAttribute("height", "100%");
		ticks.append(tick);
		if (mark.kind === "action") {
			continue; // of an agent: they are many
		}
		section.hidden = false;
		const button = document.createElement("button");
		button.type = "button";
		button.textContent = `${clock(mark.at)} ${mark.kind.replaceAll("_", " ")}${mark.text && `: ${mark.text}`}`;
		button.addEventListener("click", () => order({ at: mark.at }));
		const item = document.createElement("li");
		item.append(button);
		section.querySelector("ol").append(item);
	}
	section.querySelector(".note").textContent = more ? `and ${more} more` : "";
}

// show writes the moment.
function show() {
	if (!state) {
		return;
	}
	const now = dragged ? Number(at.value) : position();
	at.value = now;
	at.setAttribute("aria-valuetext", `${clock(now)} of ${clock(at.max)}`);
	page.querySelector("output").textContent = `${clock(now)} / ${clock(at.max)}`;
}
setInterval(show, 200);

const toggle = () => order({ play: !state.playing });
play.addEventListener("click", toggle);
at.addEventListener("input", () => { dragged = true; show(); });
at.addEventListener("change", () => { dragged = false; order({ at: Number(at.value) }); });
speed.addEventListener("change", () => order({ speed: Number(speed.value) }));
skip.addEventListener("change", () => order({ skip: skip.checked ? Number(skip.value) : 0 }));
full.addEventListener("click", () => {
	if (document.fullscreenElement) {
		document.exitFullscreen();
	} else {
		page.requestFullscreen().catch(() => {}); // the browser may refuse
	}
});

// Space plays and pauses, the arrows go back and forth, unless the key is for a control of its own.
document.addEventListener("keydown", (event) => {
	const own = event.target.closest("a, button, select, textarea, input:not([type=range])");
	if (!state || own || event.ctrlKey || event.altKey || event.metaKey || event.shiftKey) {
		return;
	}
	const to = { ArrowLeft: position() - step, ArrowRight: position() + step, Home: 0, End: Number(at.max) }[event.key];
	if (to !== undefined) {
		order({ at: Math.round(Math.min(Math.max(to, 0), Number(at.max))) });
	} else if (event.key === " ") {
		toggle();
	} else {
		return;
	}
	event.preventDefault();
});
