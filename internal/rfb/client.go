package rfb

import (
	"bytes"
	"crypto/tls"
	"net"
	"time"
)

// Login is how to log in to a workstation.
type Login struct {
	User     string // for X509Plain; at most MaxCredential bytes
	Password string // of which VNC Authentication and X509Vnc use the first 8 bytes; at most MaxCredential bytes
	// TLS decides which certificates to trust. With it, only the X509 sub-types of VeNCrypt are
	// used, even where others are offered; without it, only None and VNC Authentication. The
	// handshake always fails below TLS 1.2.
	TLS *tls.Config
	// Required is set if a server that does not ask for the password is not the one that is meant:
	// None and X509None are then refused.
	Required bool
}

// Desktop is a workstation's desktop behind its handshake.
type Desktop struct {
	Conn net.Conn // to go on with: TLS, if the login had it
	Init Init
	// Security is the type that was used.
	Security Security
}

// client is the client's side of a handshake.
type client struct {
	wire
	login   Login
	step    time.Duration
	version Version
}

// Connect does the client's side of a handshake on conn, up to and with the ServerInit. It always
// asks to share the desktop. Every step may take the given time; zero and less means StepTimeout.
// The caller closes conn.
//
// Of what the workstation offers, the strongest is used that the login allows: with TLS, X509Plain
// if there is a user, X509Vnc if there is a password, X509None; without, VNC Authentication if
// there is a password, None.
//
// The Kind of an error says what failed. There is no second attempt: servers count failures, and
// then refuse all connections from the address for a while (KindBlacklisted).
func Connect(conn net.Conn, l Login, step time.Duration) (*Desktop, error) {
	if step <= 0 {
		step = StepTimeout
	}
	if len(l.User) > MaxCredential || len(l.Password) > MaxCredential {
		return nil, fail(KindOther, "logging in", "a user or password of more than %d bytes: %w", MaxCredential, ErrMisuse)
	}
	c := &client{wire: wire{conn: conn}, login: l, step: step}
	defer func() { c.rest() }()
	security, err := c.authenticate()
	if err != nil {
		return nil, err
	}
	c.within(step)
	const shared = 1
	if err := c.write("sending the ClientInit", []byte{shared}); err != nil {
		return nil, err
	}
	init, err := c.readInit()
	if err != nil {
		return nil, err
	}
	return &Desktop{Conn: c.conn, Init: init, Security: security}, nil
}

// authenticate goes from the greeting to the SecurityResult.
func (c *client) authenticate() (Security, error) {
	choice, err := c.open()
	if err != nil {
		return 0, err
	}
	security := SecurityNone
	switch choice {
	case typeVNCAuth:
		security, err = SecurityVNCAuth, c.respond()
	case typeVeNCrypt:
		security, err = c.veNCrypt()
	}
	if err != nil {
		return 0, err
	}
	if security == SecurityNone && c.version < Version38 {
		return security, nil
	}
	return security, c.result(security)
}

// open goes from the greeting to the choice of a security type.
func (c *client) open() (choice byte, err error) {
	c.within(c.step)
	if c.version, err = c.readVersion("reading the workstation's version"); err != nil {
		return 0, err
	}
	c.within(c.step)
	sent := c.write("answering with a version", []byte(c.version.greeting()))
	if c.version == Version33 {
		// A server that refuses at once speaks 3.3, even if it knows newer versions, and may have
		// closed the connection: its reason is worth more than the error of the write.
		choice, err := c.dictated()
		if sent != nil && KindOf(err) == KindGone {
			err = sent
		}
		return choice, err
	}
	if sent != nil {
		return 0, sent
	}
	return c.choose()
}

// dictated reads the type that a server of RFB 3.3 decided on.
func (c *client) dictated() (byte, error) {
	dictated, err := c.readUint32("reading the security type")
	if err != nil {
		return 0, err
	}
	if dictated == typeInvalid {
		return 0, c.refused()
	}
	types := []byte{byte(min(dictated, 255))}
	if choice := c.pick(types); choice != 0 {
		return choice, nil
	}
	return 0, fail(KindNoSecurity, "choosing a security type", "%w: it wants type %d", ErrNoSecurity, dictated)
}

// choose reads the types on offer and chooses one.
func (c *client) choose() (byte, error) {
	const step = "reading the security types"
	c.within(c.step)
	n, err := c.read(step, 1)
	if err != nil {
		return 0, err
	}
	if n[0] == 0 {
		return 0, c.refused()
	}
	types, err := c.readNew(step, int(n[0]))
	if err != nil {
		return 0, err
	}
	choice := c.pick(types)
	if choice == 0 {
		return 0, fail(KindNoSecurity, "choosing a security type", "%w: it offers types %d", ErrNoSecurity, types)
	}
	return choice, c.write("choosing a security type", []byte{choice})
}

// pick is the type to use, 0 if there is none. RFB 3.3 is never offered VeNCrypt.
func (c *client) pick(types []byte) byte {
	has := func(t byte) bool { return bytes.IndexByte(types, t) >= 0 }
	switch {
	case c.login.TLS != nil:
		if has(typeVeNCrypt) && c.version > Version33 {
			return typeVeNCrypt
		}
	case c.login.Password != "" && has(typeVNCAuth):
		return typeVNCAuth
	case has(typeNone) && !c.login.Required:
		return typeNone
	}
	return 0
}

// respond does VNC Authentication.
func (c *client) respond() error {
	c.within(c.step)
	var challenge [challengeLen]byte
	if err := c.readInto("reading the challenge", challenge[:]); err != nil {
		return err
	}
	response, err := RespondVNC(challenge, c.login.Password)
	if err != nil {
		return err
	}
	return c.write("sending the response to the challenge", response[:])
}
