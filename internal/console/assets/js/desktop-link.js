// One connection to a desktop: a token from the console, the socket that it opens, and noVNC.

import RFB from "../novnc/core/rfb.js";
import { closed, End, refused, signedOut } from "./desktop-ends.js";

const subprotocol = "gatehouse.vnc.1";

// order asks the console for a token. It opens one connection and is never in an address. A page that
// asks by itself does not use the session by it.
export async function order(url, wishes, byItself) {
	const answer = await fetch(url, {
		method: "POST", headers: { "Content-Type": "application/json", ...(byItself && { "Gatehouse-Live": "1" }) },
		body: JSON.stringify(wishes), redirect: "manual", cache: "no-store",
	});
	if (answer.type === "opaqueredirect" || answer.status === 401) {
		throw signedOut();
	}
	const content = await answer.json().catch(() => null);
	if (!answer.ok || !content) {
		throw refused(answer.status, content);
	}
	return content;
}

// news says now and every few seconds how many guests watch the connection of a token, named as in lists, and who
// holds keyboard and pointer. It returns how to stop. An answer that does not come changes nothing.
export function news(url, name, say) {
	const ask = async () => {
		const answer = await fetch(`${url}?token=${encodeURIComponent(name)}`, {
			headers: { "Gatehouse-Live": "1" }, redirect: "manual", cache: "no-store",
		}).catch(() => null);
		const content = answer?.ok ? await answer.json().catch(() => null) : null;
		if (content) {
			say(content);
		}
	};
	ask();
	const timer = setInterval(ask, 3000);
	return () => clearInterval(timer);
}

// connect shows a desktop in target. Its promises: opened, when there is a picture; ended, which is
// always rejected, with the End.
export function connect(target, path, token, name) {
	const url = new URL(path, location.href);
	url.protocol = url.protocol.replace("http", "ws");
	const socket = new WebSocket(url, subprotocol);
	const link = { rfb: null, close: () => { leaving = true; link.rfb.disconnect(); } };
	let leaving = false;
	let reason = ""; // why the gateway or the workstation refused
	link.ended = new Promise((_, reject) => {
		socket.addEventListener("close", (event) => {
			if (leaving) {
				reject(new End("You have ended the session.", "ask"));
			} else {
				reject(reason ? new End(reason, "ask") : closed(event.code, event.reason));
			}
		});
	});
	link.opened = Promise.race([link.ended, new Promise((resolve, reject) => {
		socket.addEventListener("open", () => {
			socket.send(new TextEncoder().encode(token));
			try {
				link.rfb = new RFB(target, socket, { shared: true });
			} catch (error) {
				reject(new End(`This browser cannot show a desktop: ${error.message}`, ""));
				socket.close();
				return;
			}
			link.rfb.addEventListener("securityfailure", (event) => { reason = event.detail.reason || "The workstation refused."; });
			link.rfb.addEventListener("connect", () => {
				describe(target.querySelector("canvas"), name);
				resolve();
			});
		});
	})]);
	return link;
}

// describe makes the picture known to people who do not see it, and reachable by the keyboard.
function describe(canvas, name) {
	canvas.tabIndex = 0;
	canvas.setAttribute("role", "application");
	canvas.setAttribute("aria-label", `Desktop of ${name}. F8 leaves it.`);
}
