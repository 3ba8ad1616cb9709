package workstation

// RefusalCode is the closed set of reasons why a viewer is not let in: a
// metric label and a field of the log.
type RefusalCode string

// The codes.
const (
	RefusedUnknown     RefusalCode = "unknown"     // no such token, or not any more
	RefusedExpired     RefusalCode = "expired"     // its time is over
	RefusedReleased    RefusalCode = "released"    // the workstation was released
	RefusedRevoked     RefusalCode = "revoked"     // withdrawn: session ended by hand, key or workstation gone
	RefusedPinned      RefusalCode = "pinned"      // belongs to another client address
	RefusedBusy        RefusalCode = "busy"        // another viewer is connected
	RefusedFull        RefusalCode = "full"        // no more sessions in all
	RefusedUnavailable RefusalCode = "unavailable" // the configuration cannot reach it, or is not started
)

// Refusal is the error of the door. Its text is for the viewer's window: short
// ASCII that names no token and no workstation.
type Refusal struct {
	Code RefusalCode
	Text string
}

func (r *Refusal) Error() string { return r.Text }

var refusalTexts = map[RefusalCode]string{
	RefusedUnknown:     "This VNC address is not valid. Ask for a new one.",
	RefusedExpired:     "This VNC address has expired. Ask for a new one.",
	RefusedReleased:    "This workstation was released.",
	RefusedRevoked:     "This VNC address was withdrawn. Ask for a new one.",
	RefusedPinned:      "This VNC address belongs to another computer. Ask for a new one.",
	RefusedBusy:        "Another viewer is connected.",
	RefusedFull:        "Too many viewers are connected. Try again later.",
	RefusedUnavailable: "The workstation cannot be reached. Try again later.",
}

func refuse(code RefusalCode) error { return &Refusal{code, refusalTexts[code]} }

// refusal is what the holder of a dead token is told.
func (d death) refusal() error {
	switch d {
	case expired:
		return refuse(RefusedExpired)
	case released:
		return refuse(RefusedReleased)
	case revoked:
		return refuse(RefusedRevoked)
	default:
		return refuse(RefusedUnknown)
	}
}

// Reason is the closed set of why a session ended: a metric label and a field
// of the record. The relay sets those that only it can see, by Session.End.
type Reason string

// The reasons.
const (
	ReasonReleased    Reason = "released"     // the workstation
	ReasonReplaced    Reason = "replaced"     // by a newcomer
	ReasonEnded       Reason = "ended"        // by hand
	ReasonRemoved     Reason = "removed"      // key or workstation dropped from the configuration
	ReasonShutdown    Reason = "shutdown"     // of the gateway
	ReasonMaxDuration Reason = "max_duration" // see Session.Until
	ReasonIdle        Reason = "idle_timeout"
	ReasonViewer      Reason = "viewer_left"
	ReasonWorkstation Reason = "workstation_left"
	ReasonProtocol    Reason = "protocol_error"
)
