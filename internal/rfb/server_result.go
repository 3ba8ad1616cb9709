package rfb

import (
	"encoding/binary"
	"fmt"
)

// When the viewer of a version learns that all is well, and how it learns that it is not:
//
//	              None                      VNC Authentication, VeNCrypt
//	3.8           result 0 | 1 and reason   result 0 | 1 and reason
//	3.7           type 1   | 0 and reason   result 0 | 1
//	3.3           type 1   | 0 and reason   result 0 | 1                  (no VeNCrypt)
//
// Before 3.8 the type None is the last word, so it is not said before Accept. An empty list of
// types would do in 3.8 too, but there gtk-vnc 1.3.1 misreads it.

// Refuse sends the viewer the reason if its version allows one: in RFB 3.3 and 3.7, authentication
// fails without a reason. It is called instead of Accept. The reason is made printable ASCII of at
// most MaxReason bytes. The caller closes the connection.
func (s *Server) Refuse(reason string) error {
	const step = "refusing the viewer"
	if err := s.enter(proven, failed, step); err != nil {
		return err
	}
	s.wire.within(s.timeouts.Step)
	defer s.wire.rest()
	switch {
	case s.security != SecurityNone || s.version == Version38:
		return s.wire.write(step, s.failure(reason))
	case s.version == Version37:
		return s.wire.write(step, appendReason([]byte{0}, reason))
	}
	return s.wire.write(step, appendReason([]byte{0, 0, 0, typeInvalid}, reason))
}

// failure is the SecurityResult that says no.
func (s *Server) failure(reason string) []byte {
	result := []byte{0, 0, 0, resultFailed}
	if s.version == Version38 {
		result = appendReason(result, reason)
	}
	return result
}

// Accept tells the viewer that its credentials are accepted. After it, no reason can be sent.
func (s *Server) Accept() error {
	const step = "accepting the viewer"
	if err := s.enter(proven, failed, step); err != nil {
		return err
	}
	defer s.wire.rest()
	s.wire.within(s.timeouts.Step)
	var err error
	switch {
	case s.security == SecurityNone && s.version == Version37:
		_, err = s.choose([]byte{typeNone})
	case s.security == SecurityNone && s.version == Version33:
		err = s.wire.write(step, []byte{0, 0, 0, typeNone})
	default:
		err = s.wire.write(step, []byte{0, 0, 0, resultOK})
	}
	if err == nil {
		s.stage = accepted
	}
	return err
}

// ClientInit reads whether the viewer would share the desktop. Viewers ask their users before they
// send it.
func (s *Server) ClientInit() (shared bool, err error) {
	const step = "reading the viewer's ClientInit"
	if err := s.enter(accepted, failed, step); err != nil {
		return false, err
	}
	s.wire.within(s.timeouts.Person)
	defer s.wire.rest()
	b, err := s.wire.read(step, 1)
	if err != nil {
		return false, err
	}
	s.stage = begun
	return b[0] != 0, nil
}

// ServerInit describes the desktop to the viewer. It is the last step of the handshake.
func (s *Server) ServerInit(i Init) error {
	const step = "sending the ServerInit"
	if err := s.enter(begun, failed, step); err != nil {
		return err
	}
	if err := i.check(); err != nil {
		return &Error{Kind: KindOther, Step: step, Err: err}
	}
	if len(i.Name) > MaxName {
		return fail(KindTooLong, step, "a name of %d bytes, more than %d", len(i.Name), MaxName)
	}
	s.wire.within(s.timeouts.Step)
	defer s.wire.rest()
	if err := s.wire.write(step, i.Append(nil)); err != nil {
		return err
	}
	s.stage = done
	return nil
}

// enter begins a step that belongs to stage at; until the step is done the stage is during.
func (s *Server) enter(at, during stage, step string) error {
	if s.stage != at {
		return &Error{Kind: KindOther, Step: step, Err: fmt.Errorf("out of order: %w", ErrMisuse)}
	}
	s.stage = during
	return nil
}

// appendReason appends the length and text of a reason.
func appendReason(dst []byte, reason string) []byte {
	reason = printable(reason)
	reason = reason[:min(len(reason), MaxReason)]
	dst = binary.BigEndian.AppendUint32(dst, uint32(len(reason)))
	return append(dst, reason...)
}
