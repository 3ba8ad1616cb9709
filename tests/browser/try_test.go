package browser

import (
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

// A person asks two models, sees the answers come, and stops a slow one.
func TestAPersonTriesModels(t *testing.T) {
	const soon = 10 * time.Second
	b := newTab(t, demoSite(t))
	b.signIn("ops")
	b.open("/console/try")
	fill := func(field, text string) {
		evaluate[string](b, `document.querySelector("[name=`+field+`]").value = `+quote(text))
	}
	fill("model", "test/echo")
	fill("second", "test/lorem")
	fill("text", "it is <b>seven</b>")
	run(b, chromedp.Click(chromedp.CSS("form[data-try] button.main")))
	b.eventually("the answer is there, as a text", `document.querySelector("#answers .said")?.textContent === "You said: it is <b>seven</b>"`, soon)
	b.eventually("both have a link to their calls", `document.querySelectorAll("#answers .note a").length === 2`, soon)
	b.eventually("the code has the question", `document.getElementById("code-0").textContent.includes("it is <b>seven</b>")`, soon)
	b.eventually("nothing can be stopped any more", `document.querySelector("[data-stop]").hidden`, soon)

	fill("model", "test/slow")
	fill("second", "")
	run(b, chromedp.Click(chromedp.CSS("form[data-try] button.main")))
	b.eventually("the slow answer begins", `document.querySelector("#answers .said")?.textContent.length > 0 && document.querySelector("#answers h2").textContent === "test/slow"`, soon)
	run(b, chromedp.Click(chromedp.CSS("[data-stop]")))
	b.eventually("it is stopped", `document.querySelector("#answers .error").textContent === "Stopped."`, soon)

	fill("model", "test/none")
	run(b, chromedp.Click(chromedp.CSS("form[data-try] button.main")))
	b.eventually("a refusal is shown in its words", `document.querySelector("#answers .error").textContent.includes("test/none")`, soon)
	b.check()
	if status := b.follow(chromedp.Reload()); status != 200 || evaluate[string](b, `document.querySelector("[name=text]").value`) != "Hello" {
		t.Error("the form remembers what was asked")
	}
}
