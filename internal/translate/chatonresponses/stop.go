package chatonresponses

import (
	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
	"github.com/gatehouse-proxy/gatehouse/internal/translate"
)

// stop reads the stop sequences. The Responses API has none, so the gateway ends the answer.
func (t *translation) stop() (err error) {
	t.original.stops, err = translate.StopSequences(t.body.Get("stop"), "stop")
	if err == nil && len(t.original.stops) > 0 && t.original.logprobs {
		return apierror.New(apierror.UnsupportedParameter, `"logprobs" and "stop" cannot be combined: the provider of this model has another API`).WithParam("logprobs")
	}
	return err
}

// stopWriter passes an answer on up to the first stop sequence in its text.
type stopWriter struct {
	answerWriter
	stops translate.Stops
	found string // the sequence that ended the answer
}

// until returns a writer that ends the answer at a stop sequence of the request.
func (o *Original) until(w answerWriter) *stopWriter {
	return &stopWriter{answerWriter: w, stops: translate.Stops{Sequences: o.stops}}
}

func (w *stopWriter) text(piece, logprobs []byte) {
	switch {
	case len(w.stops.Sequences) == 0:
		w.answerWriter.text(piece, logprobs)
	case w.found == "":
		decoded, _ := jsonscan.String(append(append([]byte{'"'}, piece...), '"'))
		decoded, w.found = w.stops.Next(decoded)
		w.put(decoded)
	}
}

func (w *stopWriter) put(text string) {
	if piece, ok := translate.Unquoted(jsonscan.AppendString(nil, text)); ok {
		w.answerWriter.text(piece, nil)
	}
}

// flush passes on what was held back: no text follows.
func (w *stopWriter) flush() { w.put(w.stops.Rest()) }

func (w *stopWriter) refusal(piece []byte) {
	if w.found == "" {
		w.flush()
		w.answerWriter.refusal(piece)
	}
}

func (w *stopWriter) reasoning(piece []byte) {
	if w.found == "" {
		w.answerWriter.reasoning(piece)
	}
}

func (w *stopWriter) citation(annotation []byte) {
	if w.found == "" {
		w.answerWriter.citation(annotation)
	}
}

func (w *stopWriter) beginCall(n int, custom bool, id, name []byte) {
	if w.found == "" {
		w.flush()
		w.answerWriter.beginCall(n, custom, id, name)
	}
}

func (w *stopWriter) arguments(n int, custom bool, piece []byte) {
	if w.found == "" {
		w.answerWriter.arguments(n, custom, piece)
	}
}

// end passes on the rest of an answer, and notes in its ending what stopped it.
func (w *stopWriter) end(e *ending) {
	w.flush()
	if w.found != "" {
		e.finish, e.stop = "stop", w.found
	}
}
