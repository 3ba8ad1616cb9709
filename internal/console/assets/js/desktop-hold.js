// The banner above a desktop where an agent is too: who has control of keyboard and pointer, what agents
// ask for, and the buttons that take control and give it back.

const states = {
	own: () => "You have control, and the agent waits.",
	human: (who) => `${who} has control, and the agent waits.`,
	agent: (who) => `An agent (${who}) has control. A key or a click takes it.`,
	none: () => "An agent asks for a person.",
};

export class Hold {
	#box;
	#url;
	#then;
	#granted = null; // the connection, as the console has granted it
	#shown = "";

	// url is where control is taken and given back, and then is called afterwards.
	constructor(box, url, then) {
		[this.#box, this.#url, this.#then] = [box, url, then];
		for (const button of box.querySelectorAll("button")) {
			button.addEventListener("click", () => this.#change(button.dataset.hold));
		}
	}

	// show says who has control. What has not changed is not said again.
	show(control, granted) {
		const shown = JSON.stringify([control, granted.name]);
		if (shown === this.#shown) {
			return;
		}
		[this.#shown, this.#granted] = [shown, granted];
		const asks = control.asks ?? [];
		const on = control.holder !== "none" || asks.length > 0;
		this.#say(on ? states[control.own ? "own" : control.holder](control.who) : "", asks.map(({ who, note }) =>
			note ? `${who} asks: ${note}` : `${who} asks for help.`));
		this.#button("take").hidden = !on || control.own || granted.view_only;
		this.#button("return").hidden = !control.own;
	}

	hide() {
		this.#shown = "";
		this.#say("", []);
		this.#button("take").hidden = this.#button("return").hidden = true;
	}

	#say(text, asks) {
		this.#box.classList.toggle("on", text !== "");
		this.#box.classList.toggle("warn", asks.length > 0);
		this.#box.querySelector("p").textContent = text;
		this.#box.querySelector("ul").replaceChildren(...asks.map((ask) => {
			const item = document.createElement("li");
			item.textContent = ask;
			return item;
		}));
	}

	#button(action) {
		return this.#box.querySelector(`[data-hold="${action}"]`);
	}

	async #change(action) {
		const granted = this.#granted;
		const answer = await fetch(this.#url, {
			method: "POST", headers: { "Content-Type": "application/json" }, redirect: "manual", cache: "no-store",
			body: JSON.stringify({ action, token: granted.name }),
		}).catch(() => null);
		const content = await answer?.json().catch(() => null);
		if (content?.control) {
			this.show(content.control, granted);
			this.#then();
		} else {
			this.#shown = ""; // the next news say how it is
			this.#say(content?.error?.message ?? "The gateway did not answer. Try again.", []);
		}
	}
}
