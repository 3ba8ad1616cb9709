package rfb

import (
	"crypto/tls"
	"encoding/binary"
	"fmt"
	"net"
	"time"
)

// Timeouts bound the steps of a viewer. Zero and less means the default.
type Timeouts struct {
	Step   time.Duration // for each step that a machine takes. Default: StepTimeout
	Person time.Duration // for each step that a person may have to take. Default: PersonTimeout
}

// Offer is what a viewer may authenticate with.
type Offer struct {
	// None offers security type None, behind the others: for a connection inside TLS. Before RFB
	// 3.8, where None cannot be refused, it is not offered beside others; a viewer of RFB 3.3 is
	// taken to have chosen it.
	None bool
	// SubTypes are offered inside VeNCrypt, in this order: most viewers take the first they know.
	// Plain may be one of them only beside None. Empty: no VeNCrypt.
	SubTypes []SubType
	// PasswordFirst, if set, is asked when a viewer has chosen VeNCrypt: whether this one is
	// offered X509None last.
	PasswordFirst func() bool
	// OnPerson, if set, is called when steps begin in which the viewer may ask its user.
	OnPerson func()
	// VNCAuth offers VNC Authentication, behind VeNCrypt. It encrypts nothing.
	VNCAuth bool
	// TLS is for the sub-types. The handshake always fails below TLS 1.2.
	TLS *tls.Config
	// Challenge makes the random challenge of VNC Authentication and X509Vnc.
	Challenge func() [16]byte
}

// Proof is what a viewer has shown of itself. Nothing in it is verified.
type Proof struct {
	Security   Security
	ServerName string // the host name in the TLS handshake of VeNCrypt, "" without one

	User, Password string // of Plain and X509Plain, at most MaxCredential bytes each

	Challenge, Response [16]byte // of VNC Authentication and X509Vnc, for VerifyVNC
}

// tooOld is shown by viewers of RFB 3.3, when VeNCrypt is all there is to offer.
const tooOld = "Your viewer is too old for encryption (VeNCrypt). Use a current one, such as TigerVNC."

// notOffered is shown by viewers that chose a security type which does not stand in the list.
const notOffered = "The security type was not offered."

// tooLong is shown by viewers whose user typed more than MaxCredential bytes.
const tooLong = "The user name or the password is too long."

// stage is how far the handshake is.
type stage uint8

const (
	fresh    stage = iota // Negotiate is next
	failed                // no reason can be sent
	proven                // Accept or Refuse
	accepted              // ClientInit
	begun                 // ServerInit
	done
)

// Server is the server's side of a handshake, for one viewer. It is not safe for concurrent use;
// closing the connection ends a method that waits.
type Server struct {
	wire     wire
	timeouts Timeouts
	version  Version
	security Security
	stage    stage
}

// NewServer returns the server's side of conn, to which nothing was written yet. The caller closes
// conn.
func NewServer(conn net.Conn, t Timeouts) *Server {
	if t.Step <= 0 {
		t.Step = StepTimeout
	}
	if t.Person <= 0 {
		t.Person = PersonTimeout
	}
	return &Server{wire: wire{conn: conn}, timeouts: t}
}

// Conn is the connection to go on with: TLS, once that was negotiated.
func (s *Server) Conn() net.Conn { return s.wire.conn }

// Version is the viewer's version as it is understood here, 0 until it has sent it.
func (s *Server) Version() Version { return s.version }

// Negotiate greets the viewer and continues until it has shown its credentials. Accept or Refuse
// must follow. After an error neither is possible; if the protocol has words for the error, the
// viewer was sent them.
func (s *Server) Negotiate(o Offer) (Proof, error) {
	if err := s.enter(fresh, failed, "offering security types"); err != nil {
		return Proof{}, err
	}
	if err := o.check(); err != nil {
		return Proof{}, &Error{Kind: KindOther, Step: "offering security types", Err: err}
	}
	defer s.wire.rest()
	proof, err := s.negotiate(o)
	if err != nil {
		return Proof{}, err
	}
	s.security, s.stage = proof.Security, proven
	return proof, nil
}

func (s *Server) negotiate(o Offer) (Proof, error) {
	s.wire.within(s.timeouts.Step)
	if err := s.wire.write("greeting", []byte(Version38.greeting())); err != nil {
		return Proof{}, err
	}
	var err error
	if s.version, err = s.wire.readVersion("reading the viewer's version"); err != nil {
		return Proof{}, err
	}
	types := o.types(s.version)
	if s.version < Version38 && len(types) == 1 && types[0] == typeNone {
		return Proof{Security: SecurityNone}, nil // Accept says so, or Refuse
	}
	if s.version == Version33 {
		return s.dictate(o)
	}
	choice, err := s.choose(types)
	if err != nil {
		return Proof{}, err
	}
	switch choice {
	case typeVeNCrypt:
		return s.veNCrypt(o)
	case typeVNCAuth:
		return s.challenge(o, nil, SecurityVNCAuth)
	}
	return Proof{Security: SecurityNone}, nil
}

// dictate is RFB 3.3: the viewer has no choice.
func (s *Server) dictate(o Offer) (Proof, error) {
	if o.VNCAuth {
		return s.challenge(o, binary.BigEndian.AppendUint32(nil, typeVNCAuth), SecurityVNCAuth)
	}
	s.wire.within(s.timeouts.Step)
	if err := s.wire.write("refusing an old viewer", appendReason(make([]byte, 4), tooOld)); err != nil {
		return Proof{}, err
	}
	return Proof{}, fail(KindTooOld, "choosing a security type", "RFB 3.3 has no VeNCrypt")
}

// choose offers types and reads the viewer's choice.
func (s *Server) choose(types []byte) (byte, error) {
	const step = "reading the security type"
	s.wire.within(s.timeouts.Step)
	if err := s.wire.write("offering security types", append([]byte{byte(len(types))}, types...)); err != nil {
		return 0, err
	}
	b, err := s.wire.read(step, 1)
	if err != nil {
		return 0, err
	}
	for _, t := range types {
		if t == b[0] {
			return t, nil
		}
	}
	_ = s.wire.write(step, s.failure(notOffered)) // the viewer's fault is what counts
	return 0, fail(KindNotOffered, step, "type %d was not offered", b[0])
}

// challenge does VNC Authentication up to the response. begin goes out with the challenge.
func (s *Server) challenge(o Offer, begin []byte, security Security) (Proof, error) {
	proof := Proof{Security: security, Challenge: o.Challenge()}
	s.forPerson(o)
	if err := s.wire.write("sending the challenge", append(begin, proof.Challenge[:]...)); err != nil {
		return Proof{}, err
	}
	return proof, s.wire.readInto("reading the response to the challenge", proof.Response[:])
}

// forPerson gives the next steps the time of a person.
func (s *Server) forPerson(o Offer) {
	s.wire.within(s.timeouts.Person)
	if o.OnPerson != nil {
		o.OnPerson()
	}
}

// types are the outer security types of o for a version, in order.
func (o Offer) types(version Version) []byte {
	var types []byte
	if len(o.SubTypes) > 0 && version > Version33 {
		types = append(types, typeVeNCrypt)
	}
	if o.VNCAuth {
		types = append(types, typeVNCAuth)
	}
	if o.None && (version == Version38 || len(types) == 0) {
		types = append(types, typeNone)
	}
	return types
}

// check refuses what cannot be offered.
func (o Offer) check() error {
	challenge, secure := o.VNCAuth, false
	for _, t := range o.SubTypes {
		if t.Security() == 0 || t == Plain && !o.None {
			return fmt.Errorf("sub-type %v: %w", t, ErrMisuse)
		}
		challenge = challenge || t == X509Vnc
		secure = secure || t != Plain
	}
	switch {
	case len(o.types(Version38)) == 0:
		return fmt.Errorf("an empty offer: %w", ErrMisuse)
	case len(o.SubTypes) > maxSubTypes:
		return fmt.Errorf("%d sub-types: %w", len(o.SubTypes), ErrMisuse)
	case secure && o.TLS == nil:
		return fmt.Errorf("VeNCrypt without TLS: %w", ErrMisuse)
	case challenge && o.Challenge == nil:
		return fmt.Errorf("VNC Authentication without a challenge: %w", ErrMisuse)
	}
	return nil
}
