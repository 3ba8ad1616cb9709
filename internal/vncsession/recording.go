package vncsession

import (
	"errors"

	"go.uber.org/zap"

	"github.com/gatehouse-proxy/gatehouse/internal/activity"
	"github.com/gatehouse-proxy/gatehouse/internal/desktop"
	"github.com/gatehouse-proxy/gatehouse/internal/recording"
	"github.com/gatehouse-proxy/gatehouse/internal/rfb"
)

// codeRecording is the code of a session whose recording is not whole.
const codeRecording = string(desktop.ReasonRecording)

var errNoRecordings = errors.New("the configuration has no record block any more")

// Record begins the recording of a joined session, if its rules want one, from the workstation's
// ServerInit on. Where it cannot begin or go on, a session that requires it is refused, with a
// *desktop.Refusal, or ends; another one goes on without it.
func (s *Session) Record(init rfb.Init) error {
	rule := s.Pass.Rules.Record
	if rule == desktop.RecordOff || s.Pass.Unlisted() {
		return nil
	}
	store, err := s.deps.Recordings, errNoRecordings
	if store != nil {
		s.Recording, err = store.Begin(recording.Header{
			Session: s.Live.ID, Tenant: s.Pass.Issuer.Tenant, Workstation: s.Pass.Workstation.Name, Key: s.Pass.Issuer.Key, User: s.Pass.Issuer.User,
			Role: desktop.Role(s.Pass.Issuer, s.Pass.Guest), Begun: s.deps.Now(), Security: s.security, Init: init,
		}, s.recordingFailed)
	}
	if err == nil {
		return nil
	}
	s.ProtocolError(codeRecording, err)
	if rule != desktop.RecordRequired {
		s.warnOfRecording(err)
		return nil
	}
	s.Live.End(desktop.ReasonRecording)
	return desktop.NewRefusal(desktop.RefusedRecording)
}

// recordingFailed is called, from elsewhere, when the recording cannot go on.
func (s *Session) recordingFailed(err error) {
	s.warnOfRecording(err)
	if s.Pass.Rules.Record == desktop.RecordRequired {
		s.Live.End(desktop.ReasonRecording)
	}
}

func (s *Session) warnOfRecording(err error) {
	s.deps.Logger.Warn("a session is not recorded", zap.String("session", s.Live.ID), zap.Stringer("rule", s.Pass.Rules.Record),
		zap.String("cause", s.deps.Redact(err.Error())))
}

// endRecording notes in the record of the session that there is a recording, and whether it is whole.
func (s *Session) endRecording(r *activity.Record, why desktop.Reason) {
	if s.Recording == nil {
		return
	}
	r.Recording = s.Live.ID
	if err := s.Recording.Close(string(why)); err != nil && s.code == "" {
		s.ProtocolError(codeRecording, err)
	}
	r.Code = s.code
}
