package desktop

import (
	"maps"
	"slices"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
)

// Reasons returns all reasons why a session ends, sorted.
func Reasons() []Reason { return slices.Sorted(maps.Keys(reasonMeanings)) }

// Meaning returns what an operator reads about a refusal of a viewer.
func (c RefusalCode) Meaning() apierror.Meaning { return refusalMeanings[c] }

// Meaning returns what an operator reads about the end of a session.
func (r Reason) Meaning() apierror.Meaning { return reasonMeanings[r] }

// Option is the option of the configuration that makes the refusal, "" if none does.
func (c RefusalCode) Option() string {
	switch c {
	case RefusedPinned:
		return "vnc: pin_client"
	case RefusedBusy:
		return "vnc: on_conflict refuse"
	case RefusedFull:
		return "vnc: max_sessions"
	case RefusedGuests:
		return "session: max_guests"
	case RefusedRecording:
		return "session: record required"
	}
	return ""
}

// Option is the option of the configuration that ended the session, "" if none did.
func (r Reason) Option() string {
	switch r {
	case ReasonMaxDuration:
		return "vnc: max_duration"
	case ReasonIdle:
		return "vnc: idle_timeout"
	case ReasonReplaced:
		return "vnc: on_conflict replace"
	case ReasonRecording:
		return "session: record required"
	}
	return ""
}

const newAddress = "The user asks for a new address."

var refusalMeanings = map[RefusalCode]apierror.Meaning{
	RefusedUnknown:            {Text: "The address or password is that of no live token.", Advice: newAddress},
	RefusedExpired:            {Text: "The address was not used in time, or its longest duration is over.", Advice: newAddress + " `connect_within`, `reconnect_within` and `max_duration` set the times."},
	RefusedReleased:           {Text: "The workstation was released, and its addresses with it.", Advice: "Restore it with `caddy gatehouse workstation restore`, then issue a new address."},
	RefusedUsed:               {Text: "The address was good for one session, which it has opened.", Advice: newAddress + " If nobody used it twice, somebody else has seen it."},
	RefusedRevoked:            {Text: "The address was withdrawn: its session was ended by hand, or its key or workstation is gone.", Advice: newAddress},
	RefusedPinned:             {Text: "The address belongs to the network address that used it first.", Advice: newAddress + " Without `pin_client` an address works from everywhere."},
	RefusedBusy:               {Text: "Another viewer has the workstation.", Advice: "End its session, or set `on_conflict` to `replace` or `share`."},
	RefusedFull:               {Text: "As many sessions are open as the gateway allows.", Advice: "Raise `max_sessions`."},
	RefusedHostLeft:           {Text: "The address was for a guest of a session that has ended.", Advice: "The host of the new session invites again."},
	RefusedGuests:             {Text: "As many guests watch the session as its rules allow.", Advice: "One leaves, or raise `max_guests` of the `session` rules."},
	RefusedUnavailable:        {Text: "The running configuration cannot reach the workstation, the gateway had just started, or Valkey does not answer.", Advice: "Look for the workstation in `caddy gatehouse workstation list`, and try again."},
	RefusedNoServerName:       {Text: "The viewer sent neither a host name nor a password.", Advice: "The user gives the first part of the address as the password."},
	RefusedTooManyConnections: {Text: "Too many connections were in their handshake.", Advice: "Look for scanners; the user tries again in a moment."},
	RefusedTooManyFailures:    {Text: "Too many wrong passwords came from the viewer's network.", Advice: "The user tries again in a minute."},
	RefusedShutdown:           {Text: "The gateway was stopping.", Advice: "The user tries again."},
	RefusedRecording:          {Text: "The session must be recorded, by a rule `record required`, and the recording could not begin.", Advice: "Look at the `cause` in the log, and at the disk of the `dir` of the `record` block."},
	RefusedInternal:           {Text: "The gateway failed. It is a fault of the program.", Advice: "Look for the session in the log, and report the lines without secrets."},
	WorkstationUnreachable:    {Text: "The VNC server did not accept a connection.", Advice: "Check its address, that it runs, and the firewall."},
	WorkstationPassword:       {Text: "The VNC server refused the gateway's login.", Advice: "Correct `password` or `user` of the workstation or its credential."},
	WorkstationSecurity:       {Text: "The VNC server offers no security type that the gateway may use.", Advice: "Give the workstation a `password`, or `tls`, as the server wants it."},
	WorkstationBlacklisted:    {Text: "The VNC server refuses connections after wrong logins.", Advice: "Correct the login, and wait a minute."},
	WorkstationCertificate:    {Text: "The VNC server's certificate is not the expected one.", Advice: "Correct `trust_pool`, `server_name` or `pinned_key` of the workstation."},
	WorkstationRefused:        {Text: "The VNC server refused the connection with a reason of its own.", Advice: "Look at the `cause` in the log."},
	WorkstationTimeout:        {Text: "The VNC server did not answer in time.", Advice: "Look at the load of the workstation, and at the network."},
	WorkstationDenied:         {Text: "The source of the workstation said no. The user was shown its reason.", Advice: "Ask at the control plane."},
	WorkstationStarting:       {Text: "The source of the workstation said that it is not there yet.", Advice: "The user tries again in a moment. If it never comes, look at the control plane."},
	SourceUnavailable:         {Text: "The source of the workstation gave no answer that counts.", Advice: "Look at the log: `code` and `error` say why. Open sessions go on."},
	WorkstationFailed:         {Text: "What answered at the address is no VNC server.", Advice: "Check the port of the workstation."},
}

var reasonMeanings = map[Reason]apierror.Meaning{
	ReasonReleased:    {Text: "The workstation was released.", Advice: "Nothing, if that was wanted; else restore it."},
	ReasonReplaced:    {Text: "A newer session took the workstation.", Advice: "Nothing: the same user came back, or `on_conflict` is `replace`."},
	ReasonHostLeft:    {Text: "The guest's host ended its session, and its guests with it.", Advice: "Nothing: the host of the new session invites again."},
	ReasonEnded:       {Text: "Somebody ended the session by hand.", Advice: "Nothing."},
	ReasonRemoved:     {Text: "The key or the workstation is gone, or agents may not be there: a reload dropped it, or the key was made at run time and was deleted, disabled, rotated or has ended.", Advice: "Put it back if that was not wanted."},
	ReasonSignedOut:   {Text: "The sign-in to the console ended: signed out, not used for too long, too old, or its key or user is gone. Its desktops end with it.", Advice: "The user signs in again. `session_idle` and `session_max` of the console set the times."},
	ReasonShutdown:    {Text: "The gateway stopped.", Advice: "The user connects again."},
	ReasonMaxDuration: {Text: "The longest duration of an address was over.", Advice: newAddress + " `max_duration` sets the time."},
	ReasonIdle:        {Text: "No key or pointer event came for the idle time.", Advice: "The user connects again. `idle_timeout` sets the time."},
	ReasonViewer:      {Text: "The viewer left, or the network to it was lost.", Advice: "Nothing."},
	ReasonWorkstation: {Text: "The VNC server closed the connection, or was lost.", Advice: "Look at the workstation if that happens often."},
	ReasonEngineLost:  {Text: "Neither Valkey nor PostgreSQL answered this gateway for 30 seconds, so that nobody could have ended the session.", Advice: "Look at both engines and the network to them. `on_store_failure open` lets sessions go on."},
	ReasonRecording:   {Text: "The recording could not be written any more, or not fast enough, and a rule requires it.", Advice: "Look at the `cause` in the log, and at the disk of the `dir` of the `record` block."},
	ReasonProtocol:    {Text: "The viewer sent a message that the protocol does not allow, or the workstation one that cannot be followed where `clipboard_out` is off.", Advice: "Look at the `code` and the log: which message it was."},
}
