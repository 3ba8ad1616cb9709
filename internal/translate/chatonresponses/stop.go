package chatonresponses

import (
	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
	"github.com/gatehouse-proxy/gatehouse/internal/translate"
	"github.com/gatehouse-proxy/gatehouse/internal/translate/completion"
)

// stop reads the stop sequences. The Responses API has none, so the gateway ends the answer.
func (t *translation) stop() {
	stops, err := translate.StopSequences(t.body.Get("stop"), "stop")
	t.body.Fail(err)
	if t.original.stops = stops; len(stops) > 0 && t.original.logprobs {
		t.body.Fail(apierror.New(apierror.UnsupportedParameter, `"logprobs" and "stop" cannot be combined: the provider of this model has another API`).WithParam("logprobs"))
	}
}

// stopWriter passes an answer on up to the first stop sequence in its text.
type stopWriter struct {
	translate.Content
	stops translate.Stops
	found string // the sequence that ended the answer
}

// until returns a writer that ends the answer at a stop sequence of the request.
func (o *Original) until(w translate.Content) *stopWriter {
	return &stopWriter{Content: w, stops: translate.Stops{Sequences: o.stops}}
}

func (w *stopWriter) Text(piece, logprobs []byte) {
	switch {
	case len(w.stops.Sequences) == 0:
		w.Content.Text(piece, logprobs)
	case w.found == "":
		decoded, _ := jsonscan.String(append(append([]byte{'"'}, piece...), '"'))
		decoded, w.found = w.stops.Next(decoded)
		w.put(decoded)
	}
}

func (w *stopWriter) put(text string) {
	if piece, ok := translate.Unquoted(jsonscan.AppendString(nil, text)); ok {
		w.Content.Text(piece, nil)
	}
}

// flush passes on what was held back: no text follows.
func (w *stopWriter) flush() { w.put(w.stops.Rest()) }

func (w *stopWriter) Refusal(piece []byte) {
	if w.found == "" {
		w.flush()
		w.Content.Refusal(piece)
	}
}

func (w *stopWriter) Reasoning(piece, detail []byte) {
	if w.found == "" {
		w.Content.Reasoning(piece, detail)
	}
}

func (w *stopWriter) Citation(c translate.Citation) {
	if w.found == "" {
		w.Content.Citation(c)
	}
}

func (w *stopWriter) BeginCall(n int, custom bool, id, name []byte) {
	if w.found == "" {
		w.flush()
		w.Content.BeginCall(n, custom, id, name)
	}
}

func (w *stopWriter) Arguments(n int, custom bool, piece []byte) {
	if w.found == "" {
		w.Content.Arguments(n, custom, piece)
	}
}

// end passes on the rest of an answer, and notes in its ending what stopped it.
func (w *stopWriter) end(e *completion.Ending) {
	w.flush()
	if w.found != "" {
		e.Finish, e.Stop = "stop", w.found
	}
}
