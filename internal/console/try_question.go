package console

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
)

// maxTurns bounds the turns before a question.
const maxTurns = 100

// question is what a person asks models. Nothing of it is kept.
type question struct {
	Models           []string // one, or two to compare
	System, Text     string
	Temperature      string          // a number; "": the model's own
	MostTokens       string          // of the answer, a number; "": the model's own
	Tools            string          // a list of functions of chat completions as JSON, "" for none
	Earlier          []turn          // the conversation until now
	GoOn             bool            // Earlier is asked too
	tools            json.RawMessage // Tools, checked
	name, kind, file string          // of a file: its name, media type, content as a data: URL
}

// turn is a message of the conversation until now.
type turn struct {
	Role    string `json:"role"`
	Content string `json:"content"`
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

// EarlierJSON is the conversation until now as the form carries it.
func (q *question) EarlierJSON() string {
	if len(q.Earlier) == 0 {
		return ""
	}
	return literal(q.Earlier)
}

// readQuestion reads the form.
func readQuestion(v *visit) (*question, error) {
	v.r.Body = http.MaxBytesReader(v.w, v.r.Body, maxTry)
	if err := v.r.ParseMultipartForm(maxTry); err != nil && !errors.Is(err, http.ErrNotMultipart) {
		return nil, &Failure{Status: http.StatusRequestEntityTooLarge, Code: "request_too_large", Message: "the form could not be read: it may have " + size(maxTry) + ", with the file"}
	}
	value := func(name string) string { return v.r.PostFormValue(name) }
	q := &question{
		System: value("system"), Text: value("text"), GoOn: value("go_on") != "",
		Temperature: strings.TrimSpace(value("temperature")), MostTokens: strings.TrimSpace(value("max_tokens")), Tools: strings.TrimSpace(value("tools")),
	}
	for _, name := range []string{"model", "second"} {
		if m := strings.TrimSpace(value(name)); m != "" {
			q.Models = append(q.Models, m)
		}
	}
	if len(q.Models) == 0 || q.Text == "" {
		return nil, &Failure{Status: http.StatusBadRequest, Code: "missing_required_parameter", Message: "choose a model, and write something"}
	}
	if err := q.check(value("earlier")); err != nil {
		return nil, &Failure{Status: http.StatusBadRequest, Code: "invalid_value", Message: err.Error()}
	}
	return q, q.readFile(v)
}

var errEarlier = errors.New("the conversation until now cannot be read: begin a new one")

// check checks the options, and reads the conversation until now.
func (q *question) check(earlier string) error {
	if _, err := strconv.ParseFloat(q.Temperature, 64); q.Temperature != "" && (err != nil || !json.Valid([]byte(q.Temperature))) {
		return errors.New("the temperature is a number, such as 0.7")
	}
	if n, err := strconv.Atoi(q.MostTokens); q.MostTokens != "" && (err != nil || n < 1) {
		return errors.New("the longest answer is a number of tokens, such as 500")
	}
	if q.Tools != "" {
		var list []json.RawMessage
		if err := json.Unmarshal([]byte(q.Tools), &list); err != nil {
			return errors.New(`tools are a list of functions as JSON, such as [{"type":"function","function":{"name":"now"}}]`)
		}
		var out bytes.Buffer
		_ = json.Compact(&out, []byte(q.Tools)) // it is JSON
		q.tools = out.Bytes()
	}
	if earlier == "" {
		return nil
	}
	if err := json.Unmarshal([]byte(earlier), &q.Earlier); err != nil || len(q.Earlier) > maxTurns {
		return errEarlier
	}
	for _, t := range q.Earlier {
		if t.Role != "user" && t.Role != "assistant" {
			return errEarlier
		}
	}
	return nil
}

func (q *question) readFile(v *visit) error {
	file, head, err := v.r.FormFile("file")
	if errors.Is(err, http.ErrMissingFile) || errors.Is(err, http.ErrNotMultipart) {
		return nil // none was chosen
	}
	var content []byte
	if err == nil {
		content, err = io.ReadAll(file)
	}
	if err != nil || len(content) == 0 {
		return err
	}
	q.name, q.kind = head.Filename, http.DetectContentType(content)
	q.kind, _, _ = strings.Cut(q.kind, ";")
	q.file = "data:" + q.kind + ";base64," + base64.StdEncoding.EncodeToString(content)
	return nil
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

// turns are the messages of user and model, with content as the last one's.
func (q *question) turns(content any) (list []map[string]any) {
	if q.GoOn {
		for _, t := range q.Earlier {
			list = append(list, map[string]any{"role": t.Role, "content": t.Content})
		}
	}
	return append(list, map[string]any{"role": "user", "content": content})
}

// messages are those of chat completions.
func (q *question) messages() (list []map[string]any) {
	if q.System != "" {
		list = append(list, map[string]any{"role": "system", "content": q.System})
	}
	return append(list, q.turns(q.content())...)
}

// chat is the request of a call to a model.
func (q *question) chat(model string) map[string]any {
	body := map[string]any{"model": model, "stream": true, "usage": map[string]bool{"include": true}, "messages": q.messages()}
	for _, a := range q.options("max_tokens") {
		body[a.name] = a.value
	}
	if q.tools != nil {
		body["tools"] = q.tools
	}
	return body
}

// options are the temperature and the longest answer, as an API names the latter.
func (q *question) options(mostTokens string) (list []argument) {
	if q.Temperature != "" {
		list = append(list, argument{"temperature", json.RawMessage(q.Temperature)})
	}
	if q.MostTokens != "" {
		list = append(list, argument{mostTokens, json.RawMessage(q.MostTokens)})
	}
	return list
}
