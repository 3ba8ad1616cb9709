// The page of a desktop: it connects when it opens, says what happens, and connects again where
// that helps.
//
//   desktop.js        this: from one state to the next
//   desktop-link.js   one connection: a token from the console, the socket, noVNC
//   desktop-ends.js   why a connection has ended, in words, and what follows
//   desktop-bar.js    the controls
//   desktop-hold.js   who holds keyboard and pointer, where an agent is there too

import { Bar } from "./desktop-bar.js";
import { End, failed, pauses, steady } from "./desktop-ends.js";
import { Hold } from "./desktop-hold.js";
import { connect, news, order } from "./desktop-link.js";

const page = document.getElementById("desktop");
const screen = page.querySelector(".screen");
const state = page.querySelector(".state");
const choices = page.querySelector(".choices");

let link = null; // the open connection
let token = ""; // that of the last connection
let failures = 0; // one after another
let timer = 0; // of the next try

const bar = new Bar(page, () => link?.close());
const hold = new Hold(page.querySelector(".hold"), page.dataset.control, () => link?.rfb.focus());

// say shows a state, and the buttons of what can be done: names and functions.
function say(text, actions = {}) {
	state.textContent = text;
	choices.replaceChildren(...Object.entries(actions).map(([name, action]) => {
		const button = document.createElement("button");
		button.type = "button";
		button.textContent = name;
		button.addEventListener("click", action, { once: true });
		return button;
	}));
	page.dataset.state = link ? "open" : "closed";
}

// start connects, by itself or because somebody wants it. What it wishes for goes to the console:
// take_over, join.
async function start(wishes = {}, byItself = false) {
	clearTimeout(timer);
	say("Connecting…");
	try {
		const granted = await order(page.dataset.start, { ...wishes, ...bar.wishes(), previous: token }, byItself);
		token = granted.token;
		await run(granted);
	} catch (error) {
		follow(error instanceof End ? error : failed(error));
	}
}

// run shows the desktop until its end, which it throws.
async function run(granted) {
	const connection = connect(screen, page.dataset.socket, granted.token, page.dataset.name);
	await connection.opened;
	link = connection;
	bar.attach(link.rfb, granted.view_only);
	const words = granted.view_only ? "Connected, view only." : "Connected.";
	say(words);
	const unwatch = news(page.dataset.control, granted.name, ({ guests, control }) => {
		if (link === connection) {
			const text = guests ? `${words} ${guests === 1 ? "1 guest watches" : `${guests} guests watch`}.` : words;
			if (text !== state.textContent) {
				say(text);
			}
			hold.show(control, granted);
		}
	});
	const since = Date.now();
	try {
		await link.ended;
	} finally {
		unwatch();
		hold.hide();
		if (Date.now() - since > steady) {
			failures = 0;
		}
		bar.detach();
		link = null;
	}
}

// follow says why there is no desktop, and does what follows.
function follow(end) {
	const again = { "Connect again": () => { failures = 0; start(); } };
	switch (end.next) {
	case "retry":
		if (failures < pauses.length) {
			const pause = pauses[failures++];
			timer = setTimeout(() => start({}, true), pause * 1000);
			say(`${end.message} Connecting again in ${pause} seconds.`, {
				"Connect now": () => start(),
				"Stop": () => { clearTimeout(timer); say(end.message, again); },
			});
			return;
		}
		say(end.message, again);
		return;
	case "ask":
		say(end.message, again);
		return;
	case "occupied":
		say(end.message, {
			...(end.mayTakeOver && { "Take over": () => start({ take_over: true }) }),
			...(end.mayJoin && { "Join, view only": () => start({ join: true }) }),
			"Try again": () => start(),
		});
		return;
	case "sign in":
		say(end.message, { "Sign in": () => location.reload() });
		return;
	default:
		say(end.message);
	}
}

start();
