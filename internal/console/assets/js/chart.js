// The tooltips of charts for those who have no mouse: the browser shows those of a mouse.
//
//   .hits of a chart has a part for each step with the text in its <title>: a tap shows it. A chart that
//   has the focus shows it by Left, Right, Home and End, and Escape hides it.

const selector = ".chart:has(.hits)";
const tip = document.createElement("p");
tip.className = "tip";
tip.setAttribute("role", "status");
let chosen = null;

// Charts take the focus only where their keys work.
export function readCharts(root) {
	for (const chart of root.querySelectorAll(selector)) {
		chart.tabIndex = 0;
	}
}
readCharts(document);

function choose(step) {
	chosen?.classList.remove("chosen");
	chosen = step;
	step.classList.add("chosen");
	const box = step.closest(".plotted");
	box.append(tip);
	tip.textContent = step.querySelector("title").textContent;
	const { left, width } = step.getBoundingClientRect();
	const middle = left + width / 2 - box.getBoundingClientRect().left;
	tip.style.left = `${Math.max(Math.min(middle - tip.offsetWidth / 2, box.clientWidth - tip.offsetWidth), 0)}px`;
}

function hide() {
	chosen?.classList.remove("chosen");
	chosen = null;
	tip.remove();
}

document.addEventListener("click", (event) => {
	const step = event.target.closest?.(".hits rect");
	if (step && step !== chosen) {
		choose(step);
	} else {
		hide();
	}
});

document.addEventListener("focusout", hide);

document.addEventListener("keydown", (event) => {
	if (!event.target.matches?.(selector)) {
		return;
	}
	const steps = [...event.target.querySelectorAll(".hits rect")];
	const at = steps.indexOf(chosen);
	const next = {
		ArrowLeft: at < 0 ? steps.length - 1 : Math.max(at - 1, 0),
		ArrowRight: Math.min(at + 1, steps.length - 1),
		Home: 0,
		End: steps.length - 1,
	}[event.key];
	if (next !== undefined) {
		event.preventDefault();
		choose(steps[next]);
	} else if (event.key === "Escape") {
		hide();
	}
});
