package desktop

import (
	"net/http"
	"slices"
)

// RefusalCode is the closed set of reasons why a viewer gets no desktop: a
// metric label and a field of log and record.
type RefusalCode string

// Refusals of a token or a session.
const (
	RefusedUnknown     RefusalCode = "unknown"     // no such token, or not any more
	RefusedExpired     RefusalCode = "expired"     // its time is over
	RefusedReleased    RefusalCode = "released"    // the workstation was released
	RefusedUsed        RefusalCode = "used"        // it was good for one session
	RefusedRevoked     RefusalCode = "revoked"     // withdrawn: session ended by hand, key or workstation gone
	RefusedPinned      RefusalCode = "pinned"      // belongs to another client address
	RefusedBusy        RefusalCode = "busy"        // another viewer is connected
	RefusedFull        RefusalCode = "full"        // no more sessions in all
	RefusedHostLeft    RefusalCode = "host_left"   // the session that it is for a guest of has ended
	RefusedGuests      RefusalCode = "guests"      // as many guests watch as may
	RefusedUnavailable RefusalCode = "unavailable" // the configuration cannot reach it, or is not started
)

// Refusals of a connection with any token.
const (
	RefusedNoServerName       RefusalCode = "no_server_name"       // no token yet: neither host name nor password
	RefusedTooManyConnections RefusalCode = "too_many_connections" // a limit of half-open connections
	RefusedTooManyFailures    RefusalCode = "too_many_failures"    // wrong passwords from its network
	RefusedShutdown           RefusalCode = "shutting_down"
	RefusedRecording          RefusalCode = "recording_failed" // and a rule requires it
	RefusedInternal           RefusalCode = "internal"         // a failure of the gateway
)

// Failures of the workstation.
const (
	WorkstationUnreachable RefusalCode = "workstation_unreachable"
	WorkstationPassword    RefusalCode = "workstation_password"
	WorkstationSecurity    RefusalCode = "workstation_security"
	WorkstationBlacklisted RefusalCode = "workstation_blacklisted"
	WorkstationCertificate RefusalCode = "workstation_certificate"
	WorkstationRefused     RefusalCode = "workstation_refused"
	WorkstationTimeout     RefusalCode = "workstation_timeout"
	WorkstationFailed      RefusalCode = "workstation_failed" // no VNC server
)

// What the source of a workstation has said.
const (
	WorkstationDenied   RefusalCode = "workstation_denied"   // not to this caller, or not now
	WorkstationStarting RefusalCode = "workstation_starting" // later
	SourceUnavailable   RefusalCode = "source_unavailable"   // nothing that counts
)

// Refusal is the error of a viewer that gets no desktop. Its text is for the
// viewer's window: short ASCII that names no token and no workstation.
type Refusal struct {
	Code RefusalCode
	Text string
}

func (r *Refusal) Error() string { return r.Text }

// ofWorkstation reports whether it is a failure of the workstation.
func (c RefusalCode) ofWorkstation() bool { return refusals[c].status == http.StatusBadGateway }

// Status is the HTTP status that says in a record whose doing it was: 403 our
// rules, 502 the workstation, 503 a gateway that is going, 500 its failure.
func (r *Refusal) Status() int { return refusals[r.Code].status }

// NewRefusal returns the refusal of a code, with its text.
func NewRefusal(code RefusalCode) *Refusal { return &Refusal{code, refusals[code].text} }

var refusals = map[RefusalCode]struct {
	status int
	text   string
}{
	RefusedUnknown:     {http.StatusForbidden, "This VNC address is not valid. Ask for a new one."},
	RefusedExpired:     {http.StatusForbidden, "This VNC address has expired. Ask for a new one."},
	RefusedReleased:    {http.StatusForbidden, "This workstation was released."},
	RefusedUsed:        {http.StatusForbidden, "This VNC address was used already. Ask for a new one."},
	RefusedRevoked:     {http.StatusForbidden, "This VNC address was withdrawn. Ask for a new one."},
	RefusedPinned:      {http.StatusForbidden, "This VNC address belongs to another computer. Ask for a new one."},
	RefusedBusy:        {http.StatusForbidden, "Another viewer is connected."},
	RefusedFull:        {http.StatusForbidden, "Too many viewers are connected. Try again later."},
	RefusedUnavailable: {http.StatusForbidden, "The workstation cannot be reached. Try again later."},

	RefusedNoServerName: {http.StatusForbidden, "Your viewer did not send the host name. " +
		"Connect again and enter the first part of the VNC address (before the first dot) as the password."},
	RefusedHostLeft:           {http.StatusForbidden, "The session that you were invited to has ended."},
	RefusedGuests:             {http.StatusForbidden, "As many guests as allowed are there already. Try again later."},
	RefusedTooManyConnections: {http.StatusForbidden, "Too many viewers are connecting. Try again in a moment."},
	RefusedTooManyFailures:    {http.StatusForbidden, "Too many wrong passwords came from your network. Try again in a minute."},
	RefusedShutdown:           {http.StatusServiceUnavailable, "The gateway is shutting down. Try again in a moment."},
	RefusedRecording:          {http.StatusServiceUnavailable, "The session must be recorded and cannot be now. Tell your administrator."},
	RefusedInternal:           {http.StatusInternalServerError, "The gateway failed. Try again."},

	WorkstationUnreachable: {http.StatusBadGateway, "The workstation cannot be reached. Try again later."},
	WorkstationPassword:    {http.StatusBadGateway, "The workstation refused the gateway's password. Tell your administrator."},
	WorkstationSecurity:    {http.StatusBadGateway, "The workstation offers no security type that the gateway may use. Tell your administrator."},
	WorkstationBlacklisted: {http.StatusBadGateway, "The workstation refuses connections for a while. Try again in a minute."},
	WorkstationCertificate: {http.StatusBadGateway, "The workstation did not show the expected certificate. Tell your administrator."},
	WorkstationRefused:     {http.StatusBadGateway, "The workstation refused the connection. Tell your administrator."},
	WorkstationTimeout:     {http.StatusBadGateway, "The workstation did not answer in time. Try again later."},
	WorkstationFailed:      {http.StatusBadGateway, "The workstation did not answer as a VNC server. Tell your administrator."},

	WorkstationDenied:   {http.StatusForbidden, "You may not use this workstation now."},
	WorkstationStarting: {http.StatusServiceUnavailable, "The workstation is starting. Try again in a moment."},
	SourceUnavailable:   {http.StatusServiceUnavailable, "The list of workstations cannot be read. Try again."},
}

// RefusalCodes returns all codes, sorted.
func RefusalCodes() []string {
	codes := make([]string, 0, len(refusals))
	for code := range refusals {
		codes = append(codes, string(code))
	}
	slices.Sort(codes)
	return codes
}

func refuse(code RefusalCode) error { return NewRefusal(code) }

// Reason is the closed set of why a session ended: a metric label and a field
// of the record. The relay sets those that only it can see, by Session.End.
type Reason string

// The reasons.
const (
	ReasonReleased    Reason = "released"     // the workstation
	ReasonReplaced    Reason = "replaced"     // by a new session
	ReasonHostLeft    Reason = "host_left"    // of a guest: its host's session has ended
	ReasonEnded       Reason = "ended"        // by hand
	ReasonRemoved     Reason = "removed"      // key or workstation gone, or the key may not connect any more
	ReasonSignedOut   Reason = "signed_out"   // the sign-in to the console, of a browser
	ReasonShutdown    Reason = "shutdown"     // of the gateway
	ReasonMaxDuration Reason = "max_duration" // see Session.Until
	ReasonIdle        Reason = "idle_timeout"
	ReasonViewer      Reason = "viewer_left"
	ReasonWorkstation Reason = "workstation_left"
	ReasonProtocol    Reason = "protocol_error"
	ReasonRecording   Reason = "recording_failed" // and a rule requires it
	ReasonEngineLost  Reason = "engine_lost"      // neither Valkey nor PostgreSQL has answered for a while
)
