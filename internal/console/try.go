package console

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"slices"

	"github.com/gatehouse-proxy/gatehouse/internal/keys"
)

const (
	// maxTry bounds what the form sends, with its file, in bytes.
	maxTry = 4 << 20
	// maxTryEvent bounds an event of the answer, in bytes.
	maxTryEvent = 1 << 20
	// tryRoute is the route that says what a call has cost.
	tryRoute    = "/api/v1/chat/completions"
	eventStream = "text/event-stream"
	// toolMark begins a line with a call of a tool. The page has nothing that runs it.
	toolMark = "Calls the tool "
)

// answerOf is what a model has answered.
type answerOf struct {
	Model, Text string
	Outcome     outcome
	Failure     string
}

// outcome is what an answer took.
type outcome struct {
	Row    string `json:"row"` // the page of the call
	Tokens string `json:"tokens"`
	Cost   string `json:"cost"`
	Took   string `json:"took"`
}

// tryPage is what its template shows.
type tryPage struct {
	Asked   question
	All     []string // models to choose from
	Before  []turn   // of the question, if it went on from an answer
	Answers []answerOf
	Code    []snippet
}

// showTry shows the form.
func showTry(v *visit) error {
	q := question{Text: "Hello", Models: []string{firstModel(v)}}
	if m := v.query.Get("model"); m != "" {
		q.Models[0] = m
	}
	return v.render("try", newTryPage(v, q))
}

func newTryPage(v *visit, q question) *tryPage {
	p := &tryPage{Asked: q, Code: snippets(ownAddress(v), &q)}
	if v.has(keys.ModelsRead) {
		var list struct{ Data []struct{ ID string } }
		_ = v.get("/api/v1/models", nil, &list) // without it a name can be typed
		for _, m := range list.Data {
			p.All = append(p.All, m.ID)
		}
	}
	return p
}

// goOnFrom makes an answer the end of the conversation until now.
func (q *question) goOnFrom(a *answerOf) {
	if a.Failure != "" {
		return
	}
	if !q.GoOn {
		q.Earlier = nil
	}
	q.Earlier, q.GoOn = append(q.Earlier, turn{"user", q.Text}, turn{"assistant", a.Text}), false
}

// try asks the models. A page with JavaScript asks one at a time, and reads the answer as it comes.
func try(v *visit) error {
	if v.r.Header.Get("Accept") == eventStream {
		stream(v)
		return nil
	}
	q, err := readQuestion(v)
	if err != nil {
		return err
	}
	p := newTryPage(v, *q)
	if q.GoOn {
		p.Before = q.Earlier
	}
	for _, model := range q.Models {
		a := answerOf{Model: model}
		var failure *Failure
		a.Outcome, err = ask(v, q, model, func(text string) error {
			a.Text += text
			return nil
		})
		if errors.As(err, &failure) {
			a.Failure, err = failure.Message, nil
		}
		if err != nil {
			return err
		}
		p.Answers = append(p.Answers, a)
	}
	p.Asked.goOnFrom(&p.Answers[0])
	return v.render("try", p)
}

// chunk is what is read of an event of chat completions.
type chunk struct {
	Choices []struct {
		Delta struct {
			Content   string
			ToolCalls []calledTool `json:"tool_calls"`
		}
	}
	Usage *struct {
		Prompt     int64 `json:"prompt_tokens"`
		Completion int64 `json:"completion_tokens"`
		Cost       *float64
	}
	Error *struct{ Message string }
}

// calledTool is a part of a call of a tool: its name in the first one, then its arguments.
type calledTool struct {
	Function struct{ Name, Arguments string }
}

// ask calls a model as the signed-in key. It gives out the text as it comes. The error is a *Failure if
// the call is refused, or breaks off.
func ask(v *visit, q *question, model string, text func(string) error) (o outcome, err error) {
	begun := v.console.config.Now()
	call, err := openCall(v, tryRoute, q.chat(model))
	if err != nil {
		return o, err
	}
	defer call.close()
	if id := call.header.Get("X-Generation-Id"); id != "" {
		o.Row = Prefix + "/activity/" + url.PathEscape(id)
	}
	o.Cost = "no known price"
	lines := bufio.NewScanner(call.body) // our own routes write an event's data in one line
	lines.Buffer(nil, maxTryEvent)
	for lines.Scan() {
		var c chunk
		data, isData := bytes.CutPrefix(lines.Bytes(), []byte("data: "))
		if !isData || json.Unmarshal(data, &c) != nil { // [DONE]
			continue
		}
		if c.Error != nil {
			return o, &Failure{Status: http.StatusBadGateway, Code: "upstream_error", Message: c.Error.Message}
		}
		for _, choice := range c.Choices {
			part := choice.Delta.Content
			for _, t := range choice.Delta.ToolCalls {
				if t.Function.Name != "" {
					part += "\n" + toolMark + t.Function.Name + " "
				}
				part += t.Function.Arguments
			}
			if part == "" {
				continue
			}
			if err := text(part); err != nil {
				return o, err
			}
		}
		if u := c.Usage; u != nil {
			o.Tokens = plural(u.Prompt, "token") + " in, " + count(u.Completion) + " out"
			if u.Cost != nil {
				o.Cost = usd(*u.Cost)
			}
		}
	}
	o.Took = milliseconds(inMilliseconds(v.console.config.Now().Sub(begun)))
	return o, lines.Err()
}

// stream answers with the events of one answer: text, then end or failed.
func stream(v *visit) {
	w := sseWriter{w: v.w, flush: http.NewResponseController(v.w).Flush}
	v.w.Header().Set("Content-Type", eventStream)
	v.w.Header().Set("X-Accel-Buffering", "no")
	var o outcome
	q, err := readQuestion(v)
	if err == nil {
		err = w.event("code", snippetTexts(ownAddress(v), q))
	}
	if err == nil {
		o, err = ask(v, q, q.Models[0], func(text string) error { return w.event("text", text) })
	}
	var failure *Failure
	switch { // an error of the writer has nobody to read it
	case errors.As(err, &failure):
		_ = w.event("failed", failure.Message)
	case err != nil:
		_ = w.event("failed", errBrokenOff.Error())
	default:
		_ = w.event("end", o)
	}
}

// sseWriter writes events with JSON as data.
type sseWriter struct {
	w     io.Writer
	flush func() error
}

func (s *sseWriter) event(name string, data any) error {
	text, err := json.Marshal(data)
	if err == nil {
		_, err = s.w.Write(slices.Concat([]byte("event: "+name+"\ndata: "), text, []byte("\n\n")))
	}
	if err == nil {
		err = s.flush()
	}
	return err
}
