package responsesocket

import (
	"errors"
	"net/http"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
)

// turn makes the response that a frame asks for.
func (s *connection) turn(f *frame) {
	defer s.recovered()
	s.state.take()
	err := s.goOn(f)
	if err == nil && f.ask.warmUp && !s.o.Sockets.Take(s.o.Key, maxWarmUps) {
		err = tooManyWarmUps()
	}
	if err != nil {
		s.state.drop()
		f.release()
		if err := s.refuse(err); errors.Is(err, &endMany) { // else the client has left
			s.End(&endMany)
		}
		return
	}
	body, size := newPieces(f.body.Segments(nil), f.release)
	defer func() { _ = body.Close() }()
	a := &answer{send: s.conn.Send, header: http.Header{}, keep: func(item []byte) { s.answered(f, item) }}
	s.o.Turn(a, s.request(body, size), f.ask.warmUp)
	if f.ask.warmUp && a.status == http.StatusOK {
		a.warmUp(f.ask.model, s.o.Uploads.Now())
	} else {
		a.end()
	}
	if a.id == "" || a.failed || s.state.json == nil {
		s.state.drop()
		return
	}
	s.state.keep(a.id)
}

// goOn puts the conversation before the input of a frame that goes on from it, and makes both the
// state.
func (s *connection) goOn(f *frame) error {
	b, ask := &f.body, &f.ask
	items, ok := elements(b, ask.input)
	switch {
	case ask.elsewhere || ask.previous == "" || ask.previous != s.state.id:
		if ask.previous != "" && (ask.unstored || ask.warmUp) {
			return lost(ask.previous)
		}
		s.state.drop()
		if ok && ask.previous == "" && !ask.elsewhere {
			s.state.add(items, s.o.MaxBody) // else it is not kept
		}
		return nil
	case !ok:
		return nil // the call says what is wrong
	case !s.state.add(items, s.o.MaxBody):
		return lost(ask.previous)
	}
	for i, m := range b.Members() {
		if string(m.Key(b.Data())) == "previous_response_id" {
			b.Drop(i)
		}
	}
	if ask.input >= 0 {
		b.Set(ask.input, s.state.json)
	} else {
		b.Add("input", s.state.json)
	}
	return nil
}

// answered adds an item of the answer to the state.
func (s *connection) answered(f *frame, item []byte) {
	// Reasoning that its provider does not keep can only be sent back encrypted.
	lost := f.ask.unstored && string(member(item, "type")) == `"reasoning"` && len(member(item, "encrypted_content")) < len(`"x"`)
	if s.state.json != nil && !lost {
		s.state.add(item, s.o.MaxBody)
	}
}

// lost is the refusal of a response that is not the newest of its connection, and is stored
// nowhere.
func lost(id string) error {
	return apierror.New(apierror.PreviousNotFound, "no response with id %q is known on this connection; send the whole conversation",
		id[:min(len(id), maxName)]).WithParam("previous_response_id")
}
