// The controls of a desktop. They act on noVNC's object while there is one.

const qualities = { high: [9, 1], medium: [6, 2], low: [1, 6] }; // JPEG quality, compression

export class Bar {
	#page;
	#rfb = null;

	constructor(page, end) {
		this.#page = page;
		this.#on("full-screen", "click", () => this.#toggleFullScreen());
		this.#on("keys", "click", () => { this.#rfb?.sendCtrlAltDel(); this.#rfb?.focus(); });
		this.#on("end", "click", end);
		this.#on("scale", "change", () => this.#apply());
		this.#on("quality", "change", () => this.#apply());
		this.#on("view-only", "change", () => this.#apply());
		this.#on("clipboard", "input", (event) => this.#rfb?.clipboardPasteFrom(event.target.value));
		page.querySelector(".screen").addEventListener("keydown", (event) => this.#leave(event), true);
		document.addEventListener("fullscreenchange", () => {
			this.#control("full-screen").setAttribute("aria-pressed", String(document.fullscreenElement === page));
		});
		this.detach();
	}

	// attach makes the controls act. A token that is view only cannot be more.
	attach(rfb, viewOnly) {
		this.#rfb = rfb;
		rfb.addEventListener("clipboard", (event) => { this.#control("clipboard").value = event.detail.text; });
		for (const control of this.#page.querySelectorAll("[data-control]")) {
			control.disabled = false;
		}
		const box = this.#control("view-only");
		box.disabled = viewOnly;
		box.checked ||= viewOnly;
		this.#apply();
		rfb.focus();
	}

	detach() {
		this.#rfb = null;
		for (const control of this.#page.querySelectorAll("[data-control]")) {
			control.disabled = true;
		}
		this.#control("shared").disabled = false; // it is for the next connection
	}

	// wishes are what the next connection asks for.
	wishes() {
		return { shared: this.#control("shared").checked };
	}

	#control(name) {
		return this.#page.querySelector(`[data-control="${name}"]`);
	}

	#on(name, event, action) {
		this.#control(name).addEventListener(event, action);
	}

	#apply() {
		if (!this.#rfb) {
			return;
		}
		this.#rfb.scaleViewport = this.#control("scale").checked;
		this.#rfb.viewOnly = this.#control("view-only").checked;
		[this.#rfb.qualityLevel, this.#rfb.compressionLevel] = qualities[this.#control("quality").value];
	}

	#toggleFullScreen() {
		if (document.fullscreenElement) {
			document.exitFullscreen();
		} else {
			this.#page.requestFullscreen().then(() => this.#rfb?.focus(), () => {}); // the browser may refuse
		}
	}

	// leave takes F8 from the desktop, which gets all other keys: F8 alone moves the focus to the
	// controls, Shift and F8 is F8 for the desktop.
	#leave(event) {
		if (event.code !== "F8") {
			return;
		}
		event.preventDefault();
		event.stopPropagation();
		if (event.shiftKey) {
			this.#rfb?.sendKey(0xffc5, "F8");
		} else {
			this.#control("full-screen").focus();
		}
	}
}
