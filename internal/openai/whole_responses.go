package openai

import (
	"iter"
	"strconv"

	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
)

// ResponsesEvents is [ChatEvents] for a whole Response: each item is added, its texts come in one
// delta, and it is done. A Response that failed, or has not ended, is an error.
func ResponsesEvents(dst, body []byte, call Call) ([]byte, Summary, error) {
	call.OnID = nil // the stream reports them
	_, sum, err := ResponsesResult(nil, body, call)
	if err == nil && sum.Err != nil {
		err = sum.Err
	}
	if err != nil {
		return dst, sum, err
	}
	members := jsonscan.Members(body, nil)
	ending, response := "completed", jsonscan.NewPatch(body, members)
	var output []byte
	began := jsonscan.NewPatch(body, members)
	stated := false
	for i, m := range members {
		value := m.Value(body)
		switch string(m.DecodedKey(body)) {
		case "status":
			stated = true
			began.Set(i, inProgress)
			if ending = word(value); ending != "completed" && ending != "incomplete" {
				return dst, sum, call.Broken("answered with a response that has not ended")
			}
		case "output":
			output = value
			began.Set(i, jsonEmptyArray)
		case "usage", "incomplete_details", "completed_at":
			began.Set(i, jsonNull)
		}
	}
	if !stated {
		began.Add("status", inProgress)
		response.Add("status", []byte(`"completed"`))
	}
	w := responsesEvents{dst: dst}
	object := began.Append(nil)
	w.write("response.created", field{"response", object})
	w.write("response.in_progress", field{"response", object})
	for e := range jsonscan.AllElements(output) {
		if e.Kind != '{' {
			return dst, sum, call.Broken("answered with an item that is no object")
		}
		w.item(e.Value(output))
	}
	w.write("response."+ending, field{"response", response.Append(nil)})
	return w.dst, sum, nil
}

var (
	inProgress      = []byte(`"in_progress"`)
	jsonEmptyArray  = []byte("[]")
	jsonEmptyString = []byte(`""`)
)

// responsesEvents writes the events of a Response.
type responsesEvents struct {
	dst      []byte
	sequence int64
	output   int64   // index of the item
	at       []field // item_id and output_index
}

// field is a member of an event.
type field struct {
	key   string
	value []byte // JSON
}

func number(key string, n int64) field { return field{key, strconv.AppendInt(nil, n, 10)} }

func (w *responsesEvents) write(typ string, fields ...field) {
	w.dst = appendEventHead(w.dst, []byte(typ))
	at := len(w.dst)
	w.dst = AppendInt(AppendText(append(w.dst, '{'), "type", typ), "sequence_number", w.sequence)
	w.sequence++
	for _, f := range fields {
		w.dst = append(AppendKey(w.dst, f.key), f.value...)
	}
	w.dst = append(unwrap(append(w.dst, '}'), at), eventEnd...)
}

// about writes an event about the present item.
func (w *responsesEvents) about(typ string, fields ...field) {
	w.write(typ, append(w.at[:len(w.at):len(w.at)], fields...)...)
}

// item writes the events of an output item.
func (w *responsesEvents) item(item []byte) {
	o := OpenObject(item, nil)
	id := o.Get("id")
	if len(id) == 0 || id[0] != '"' { // the events need one
		id = jsonscan.AppendString(nil, "item_"+strconv.FormatInt(w.output, 10))
		p := jsonscan.NewPatch(item, o.members)
		put(p, item, o.members, "id", id)
		item = p.Append(nil)
		o = OpenObject(item, nil)
	}
	index := number("output_index", w.output)
	w.at = []field{{"item_id", id}, index}
	w.output++

	added := jsonscan.NewPatch(item, o.members)
	set := func(key string, value []byte) {
		if i, ok := jsonscan.Find(item, o.members, key); ok {
			added.Set(i, value)
		}
	}
	var pieces func()
	switch typ := word(o.Get("type")); typ {
	case "message":
		set("content", jsonEmptyArray)
		pieces = func() { w.parts(o.Get("content")) }
	case "reasoning":
		set("summary", jsonEmptyArray)
		set("content", jsonEmptyArray)
		pieces = func() { w.summary(o.Get("summary")); w.parts(o.Get("content")) }
	case "function_call":
		set("arguments", jsonEmptyString)
		pieces = func() {
			w.text("response.function_call_arguments", "arguments", o.Get("arguments"), field{"name", o.Get("name")})
		}
	case "custom_tool_call":
		set("input", jsonEmptyString)
		pieces = func() { w.text("response.custom_tool_call_input", "input", o.Get("input")) }
	}
	if pieces != nil {
		set("status", inProgress)
	}
	w.write("response.output_item.added", index, field{"item", added.Append(nil)})
	if pieces != nil {
		pieces()
	}
	w.write("response.output_item.done", index, field{"item", item})
}

// text writes a text in one delta, and its end. Last are members of the end; those without a value are
// left out.
func (w *responsesEvents) text(kind, key string, text []byte, last ...field) {
	if len(text) == 0 || text[0] != '"' {
		return
	}
	if len(text) > len(`""`) {
		w.about(kind+".delta", field{"delta", text})
	}
	ending := []field{{key, text}}
	for _, f := range last {
		if f.value != nil {
			ending = append(ending, f)
		}
	}
	w.about(kind+".done", ending...)
}

// summary writes the parts of a reasoning summary.
func (w *responsesEvents) summary(parts []byte) {
	n := int64(0)
	item := w.at
	for e := range objects(parts) {
		part := e.Value(parts)
		o := OpenObject(part, nil)
		w.at = append(item[:len(item):len(item)], number("summary_index", n))
		w.about("response.reasoning_summary_part.added", field{"part", o.emptied("text")})
		w.text("response.reasoning_summary_text", "text", o.Get("text"))
		w.about("response.reasoning_summary_part.done", field{"part", part})
		n++
	}
	w.at = item
}

// parts writes the parts of a message, or of the text of thoughts.
func (w *responsesEvents) parts(parts []byte) {
	n := int64(0)
	item := w.at
	for e := range objects(parts) {
		part := e.Value(parts)
		o := OpenObject(part, nil)
		w.at = append(item[:len(item):len(item)], number("content_index", n))
		switch word(o.Get("type")) {
		case "output_text":
			w.about("response.content_part.added", field{"part", o.emptied("text")})
			w.outputText(o)
		case "refusal":
			w.about("response.content_part.added", field{"part", o.emptied("refusal")})
			w.text("response.refusal", "refusal", o.Get("refusal"))
		case "reasoning_text":
			w.about("response.content_part.added", field{"part", o.emptied("text")})
			w.text("response.reasoning_text", "text", o.Get("text"))
		default:
			w.about("response.content_part.added", field{"part", part})
		}
		w.about("response.content_part.done", field{"part", part})
		n++
	}
	w.at = item
}

// outputText writes a text of a message with its annotations and token probabilities.
func (w *responsesEvents) outputText(o Object) {
	text, logprobs := o.Get("text"), o.Get("logprobs")
	if len(logprobs) == 0 || logprobs[0] != '[' {
		logprobs = jsonEmptyArray
	}
	if len(text) > len(`""`) {
		w.about("response.output_text.delta", field{"delta", text}, field{"logprobs", logprobs})
	}
	annotations, n := o.Get("annotations"), int64(0)
	for e := range jsonscan.AllElements(annotations) {
		w.about("response.output_text.annotation.added", number("annotation_index", n), field{"annotation", e.Value(annotations)})
		n++
	}
	if text != nil {
		w.about("response.output_text.done", field{"text", text}, field{"logprobs", logprobs})
	}
}

// objects yields the elements of an array that are objects.
func objects(array []byte) iter.Seq[jsonscan.Span] {
	return func(yield func(jsonscan.Span) bool) {
		for e := range jsonscan.AllElements(array) {
			if e.Kind == '{' && !yield(e) {
				return
			}
		}
	}
}

// emptied returns a part as it is before its text, and before what comes with the text.
func (o Object) emptied(text string) []byte {
	p := jsonscan.NewPatch(o.data, o.members)
	put(p, o.data, o.members, text, jsonEmptyString)
	for _, key := range [...]string{"annotations", "logprobs"} {
		if i, ok := jsonscan.Find(o.data, o.members, key); ok {
			p.Set(i, jsonEmptyArray)
		} else if word(o.Get("type")) == "output_text" {
			p.Add(key, jsonEmptyArray)
		}
	}
	return p.Append(nil)
}
