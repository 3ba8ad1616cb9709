package console

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"

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
)

// question is what a person asks models. Nothing of it is kept.
type question struct {
	Models           []string // one, or two to compare
	System, Text     string
	name, kind, file string // of a file: its name, media type, and the content as a data: URL
}

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
	question

	All     []string // models to choose from
	Answers []answerOf
	Code    []snippet
}

// Model is the first model, Second the other one, "" for none.
func (q *question) Model() string { return q.nth(0) }

// Second is the model to compare with, "" for none.
func (q *question) Second() string { return q.nth(1) }

func (q *question) nth(i int) string {
	if i < len(q.Models) {
		return q.Models[i]
	}
	return ""
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
	p := &tryPage{question: q, Code: snippets(ownAddress(v), &q)}
	if v.has(keys.ModelsRead) {
		var list struct{ Data []struct{ ID string } }
		_ = v.get("/api/v1/models", nil, &list) // without it a name can be typed
		for _, m := range list.Data {
			p.All = append(p.All, m.ID)
		}
	}
	return p
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
	return v.render("try", p)
}

// readQuestion reads the form.
func readQuestion(v *visit) (*question, error) {
	v.r.Body = http.MaxBytesReader(v.w, v.r.Body, maxTry)
	if err := v.r.ParseMultipartForm(maxTry); err != nil && !errors.Is(err, http.ErrNotMultipart) {
		return nil, &Failure{Status: http.StatusRequestEntityTooLarge, Code: "request_too_large", Message: "the form could not be read: it may have " + size(maxTry) + ", with the file"}
	}
	q := &question{System: v.r.PostFormValue("system"), Text: v.r.PostFormValue("text")}
	for _, name := range []string{"model", "second"} {
		if m := strings.TrimSpace(v.r.PostFormValue(name)); m != "" {
			q.Models = append(q.Models, m)
		}
	}
	if len(q.Models) == 0 || q.Text == "" {
		return nil, &Failure{Status: http.StatusBadRequest, Code: "missing_required_parameter", Message: "choose a model, and write something"}
	}
	file, head, err := v.r.FormFile("file")
	if errors.Is(err, http.ErrMissingFile) || errors.Is(err, http.ErrNotMultipart) { // none was chosen
		return q, nil
	}
	var content []byte
	if err == nil {
		content, err = io.ReadAll(file)
	}
	if err != nil || len(content) == 0 {
		return q, err
	}
	q.name, q.kind = head.Filename, http.DetectContentType(content)
	q.kind, _, _ = strings.Cut(q.kind, ";")
	q.file = "data:" + q.kind + ";base64," + base64.StdEncoding.EncodeToString(content)
	return q, nil
}

// content is the user's message for chat completions.
func (q *question) content() any {
	type object = map[string]any
	switch {
	case q.file == "":
		return q.Text
	case strings.HasPrefix(q.kind, "image/"):
		return []object{{"type": "text", "text": q.Text}, {"type": "image_url", "image_url": object{"url": q.file}}}
	}
	return []object{{"type": "text", "text": q.Text}, {"type": "file", "file": object{"filename": q.name, "file_data": q.file}}}
}

// messages are those of chat completions.
func (q *question) messages() (list []map[string]any) {
	if q.System != "" {
		list = append(list, map[string]any{"role": "system", "content": q.System})
	}
	return append(list, map[string]any{"role": "user", "content": q.content()})
}

// chunk is what is read of an event of chat completions.
type chunk struct {
	Choices []struct {
		Delta struct{ Content string }
	}
	Usage *struct {
		Prompt     int64 `json:"prompt_tokens"`
		Completion int64 `json:"completion_tokens"`
		Cost       *float64
	}
	Error *struct{ Message string }
}

// ask calls a model as the signed-in key. It gives out the text as it comes. The error is a *Failure if
// the call is refused, or breaks off.
func ask(v *visit, q *question, model string, text func(string) error) (o outcome, err error) {
	begun := v.console.config.Now()
	call, err := openCall(v, tryRoute, map[string]any{"model": model, "stream": true, "usage": map[string]bool{"include": true}, "messages": q.messages()})
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
			if choice.Delta.Content != "" {
				if err := text(choice.Delta.Content); err != nil {
					return o, err
				}
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
