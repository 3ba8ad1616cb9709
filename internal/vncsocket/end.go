package vncsocket

import (
	"net/http"
	"strconv"

	"github.com/gatehouse-proxy/gatehouse/internal/desktop"
)

// The codes of a Close. Those from 4000 on are ours (RFC 6455, section 7.4.2).
const (
	CodeReleased  = 4001 // the workstation was released
	CodeReplaced  = 4002 // a newer session took the workstation
	CodeEnded     = 4003 // somebody ended the session by hand
	CodeSignIn    = 4004 // key, workstation or sign-in is gone: sign in again
	CodeIdle      = 4005 // no key or pointer event for the idle time
	CodeTooLong   = 4006 // the longest duration is over
	CodeNoDesktop = 4007 // the workstation closed the connection, or was lost
	CodeHostLeft  = 4008 // a guest's host has ended its session
	CodeRecording = 4009 // the session must be recorded, and cannot be

	codeNormal   = 1000
	codeLeaving  = 1001 // of the gateway: try again
	codeProtocol = 1002
	codePolicy   = 1008 // the gateway's rules: no live token, or no desktop for it
)

// ends are the code and the words of each end. The words are for the person at the browser.
var ends = map[desktop.Reason]struct {
	code int
	text string
}{
	desktop.ReasonReleased:    {CodeReleased, "The workstation was released."},
	desktop.ReasonReplaced:    {CodeReplaced, "Another viewer took the workstation."},
	desktop.ReasonHostLeft:    {CodeHostLeft, "The session that you were invited to has ended."},
	desktop.ReasonEnded:       {CodeEnded, "The session was ended by hand."},
	desktop.ReasonRemoved:     {CodeSignIn, "Your key or the workstation is no longer there."},
	desktop.ReasonSignedOut:   {CodeSignIn, "You are no longer signed in."},
	desktop.ReasonIdle:        {CodeIdle, "No key or pointer was used for the longest time allowed."},
	desktop.ReasonMaxDuration: {CodeTooLong, "The longest duration of a session is over."},
	desktop.ReasonWorkstation: {CodeNoDesktop, "The workstation closed the connection."},
	desktop.ReasonRecording:   {CodeRecording, "The session must be recorded, and the recording could not go on."},
	desktop.ReasonShutdown:    {codeLeaving, "The gateway is stopping."},
	desktop.ReasonEngineLost:  {codeLeaving, "The gateway cannot reach the others. Try again in a moment."},
	desktop.ReasonProtocol:    {codeProtocol, "A message was sent that the protocol does not allow."},
	desktop.ReasonViewer:      {codeNormal, ""},
}

// endsBy are the words before and behind the name of the key that made an end.
var endsBy = map[desktop.Reason][2]string{
	desktop.ReasonReleased: {"The key ", " released the workstation."},
	desktop.ReasonReplaced: {"A viewer with the key ", " took the workstation."},
	desktop.ReasonEnded:    {"The key ", " ended the session."},
}

// endOf returns the code and the words of an end. by is the key that made it, if that is known.
func endOf(why desktop.Reason, by string) (code int, text string) {
	end := ends[why]
	if words, ok := endsBy[why]; ok && by != "" {
		end.text = words[0] + strconv.Quote(by) + words[1]
	}
	return end.code, end.text
}

// codeOf is the code of a refusal.
func codeOf(r *desktop.Refusal) int {
	if r.Status() == http.StatusServiceUnavailable {
		return codeLeaving
	}
	return codePolicy
}
