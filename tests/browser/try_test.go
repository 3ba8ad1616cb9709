package browser

import (
	"testing"
	"time"
)

// A person asks two models, sees the answers come in parts, and stops a slow one.
func TestAPersonTriesModels(t *testing.T) {
	const soon = 10 * time.Second
	const ask = "form[data-try] button.main"
	inEachBrowser(t, demoSite(t), func(t *testing.T, b *tab) {
		b.signIn("ops")
		b.open("/console/try")
		fill := func(field, text string) {
			evaluate[string](b, `document.querySelector("[name=`+field+`]").value = `+quote(text))
		}
		fill("model", "test/echo")
		fill("second", "test/lorem")
		fill("text", "it is <b>seven</b>")
		clickOn(b, ask)
		b.eventually("the answer is there, as a text", `document.querySelector("#answers .said")?.textContent === "You said: it is <b>seven</b>"`, soon)
		b.eventually("both have their time, tokens, cost and call", `[...document.querySelectorAll("#answers .note")].filter(note =>
			/^[\d.]+ m?s, .*tokens.*, .+: the call$/.test(note.textContent) && note.querySelector("a[href^='/console/activity/']")).length === 2`, soon)
		b.eventually("the code has the question", `document.getElementById("code-0").textContent.includes("it is <b>seven</b>")`, soon)
		b.eventually("nothing can be stopped any more", `document.querySelector("[data-stop]").hidden`, soon)

		fill("second", "")
		fill("text", "and now?")
		clickOn(b, "[name=go_on]")
		clickOn(b, ask)
		b.eventually("the second turn is answered below the first", `[...document.querySelectorAll("#answers .said")].at(-1)?.textContent === "You said: and now?" &&
			document.querySelectorAll("#answers article").length === 3`, soon)
		b.eventually("the code has both turns", `document.getElementById("code-0").textContent.includes("it is <b>seven</b>") &&
			document.getElementById("code-0").textContent.includes("and now?")`, soon)

		fill("model", "test/slow")
		clickOn(b, ask)
		const said = `document.querySelector("#answers h2")?.textContent === "test/slow" && document.querySelector("#answers .said").textContent`
		b.eventually("the slow answer begins", said, soon)
		first := evaluate[string](b, said)
		b.eventually("it goes on", `(`+said+`).length > `+quote(first)+`.length && document.querySelector("#answers article").ariaBusy === "true"`, soon)
		clickOn(b, "[data-stop]")
		b.eventually("it is stopped", `document.querySelector("#answers .error").textContent === "Stopped."`, soon)

		fill("model", "test/none")
		clickOn(b, ask)
		b.eventually("a refusal is shown in its words", `document.querySelector("#answers .error").textContent.includes("test/none")`, soon)
		b.check()
		if status := leave(b, func() { evaluate[any](b, "setTimeout(() => location.reload())") }); status != 200 || evaluate[string](b, `document.querySelector("[name=text]").value`) != "Hello" {
			t.Error("the form remembers what was asked")
		}
	})
}
