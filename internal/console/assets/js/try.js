// Asks models, and shows their answers as they come. Without this script the form shows them whole.
const form = document.querySelector("form[data-try]");
const stop = form.querySelector("[data-stop]");
const answers = document.getElementById("answers");
const goOn = form.querySelector("[data-go-on]");

form.addEventListener("submit", (event) => {
	event.preventDefault();
	const data = new FormData(form);
	const models = [data.get("model").trim(), data.get("second").trim()].filter((name) => name !== "");
	const ending = new AbortController();
	stop.hidden = false;
	stop.onclick = () => ending.abort();
	const boxes = models.map((name) => newBox(name));
	boxes[0].dataset.first = "";
	if (!data.has("go_on")) {
		answers.replaceChildren();
	}
	answers.append(...boxes);
	Promise.all(models.map((name, i) => ask(name, data, boxes[i], ending.signal))).finally(() => {
		stop.hidden = true;
		goOnFrom(data, boxes[0]);
	});
});

// goOnFrom makes an answer the end of the conversation until now, as the form carries it.
function goOnFrom(data, box) {
	if (!box.querySelector(".error").hidden) {
		return;
	}
	const earlier = data.has("go_on") && data.get("earlier") !== "" ? JSON.parse(data.get("earlier")) : [];
	earlier.push({ role: "user", content: data.get("text") }, { role: "assistant", content: box.querySelector(".said").textContent });
	form.elements.earlier.value = JSON.stringify(earlier);
	form.elements.go_on.checked = false;
	goOn.hidden = false;
}

// newBox is the place of an answer.
function newBox(name) {
	const box = document.getElementById("answer").content.firstElementChild.cloneNode(true);
	box.querySelector("h2").textContent = name;
	return box;
}

async function ask(name, data, box, signal) {
	const body = new FormData();
	for (const [field, value] of data) {
		body.append(field, field === "model" ? name : field === "second" ? "" : value);
	}
	try {
		const response = await fetch(form.action, { method: "POST", body, signal, headers: { Accept: "text/event-stream" } });
		if (response.redirected) { // the session has ended
			location.replace(response.url);
			return;
		}
		if (response.headers.get("Content-Type") !== "text/event-stream") {
			throw new Error(`The gateway answered ${response.status}. Reload the page.`);
		}
		await read(response.body, (event, value) => show(box, event, value));
	} catch (error) {
		show(box, "failed", signal.aborted ? "Stopped." : error.message);
	}
	box.setAttribute("aria-busy", "false");
}

// read reads events: a name, and a value of JSON.
async function read(body, each) {
	const reader = body.pipeThrough(new TextDecoderStream()).getReader();
	let text = "";
	for (;;) {
		const { done, value } = await reader.read();
		if (done) {
			return;
		}
		const events = (text + value).split("\n\n");
		text = events.pop();
		for (const event of events) {
			const [name, data] = event.split("\n").map((line) => line.slice(line.indexOf(": ") + 2));
			each(name, JSON.parse(data));
		}
	}
}

function show(box, event, value) {
	const failure = box.querySelector(".error");
	switch (event) {
	case "text":
		box.querySelector(".said").append(value);
		break;
	case "failed":
		failure.textContent = value;
		failure.hidden = false;
		break;
	case "code": // of the first model
		if (!("first" in box.dataset)) {
			break;
		}
		value.forEach((text, i) => { document.getElementById(`code-${i}`).textContent = text; });
		break;
	case "end": {
		const link = document.createElement("a");
		link.href = value.row;
		link.textContent = "the call";
		box.querySelector(".note").replaceChildren(`${value.took}, ${value.tokens}, ${value.cost}: `, link);
	}
	}
}
