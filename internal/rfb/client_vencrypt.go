package rfb

import (
	"crypto/tls"
	"encoding/binary"
	"fmt"
)

// veNCrypt goes on behind the choice of VeNCrypt up to the credentials.
func (c *client) veNCrypt() (Security, error) {
	if err := c.veNCryptVersion(); err != nil {
		return 0, err
	}
	sub, err := c.subType()
	if err != nil {
		return 0, err
	}
	conn := tls.Client(c.conn, c.login.TLS)
	if err := c.handshake(conn, c.step); err != nil {
		return 0, err
	}
	if _, err := c.secure(conn); err != nil {
		return 0, err
	}
	c.within(c.step)
	switch sub {
	case X509Vnc:
		err = c.respond()
	case X509Plain:
		err = c.writePlain(c.login.User, c.login.Password)
	}
	return sub.Security(), err
}

func (c *client) veNCryptVersion() error {
	const step = "agreeing on a VeNCrypt version"
	c.within(c.step)
	b, err := c.read(step, 2)
	if err != nil {
		return err
	}
	if b[0] == venCryptMajor && b[1] < venCryptMinor {
		return fail(KindVersion, step, "version %d.%d is not spoken here", b[0], b[1])
	}
	if err := c.write(step, []byte{venCryptMajor, venCryptMinor}); err != nil {
		return err
	}
	if b, err = c.read(step, 1); err != nil {
		return err
	}
	if b[0] != venCryptAgreed {
		return fail(KindVersion, step, "version %d.%d was declined", venCryptMajor, venCryptMinor)
	}
	return nil
}

// subType reads the sub-types on offer and chooses one.
func (c *client) subType() (SubType, error) {
	const step = "agreeing on a VeNCrypt sub-type"
	c.within(c.step)
	b, err := c.read(step, 1)
	if err != nil {
		return 0, err
	}
	list, err := c.readNew(step, 4*int(b[0]))
	if err != nil {
		return 0, err
	}
	var offered []uint32
	for at := 0; at < len(list); at += 4 {
		offered = append(offered, binary.BigEndian.Uint32(list[at:]))
	}
	sub := c.login.strongest(offered)
	if sub == 0 {
		return 0, fail(KindNoSecurity, step, "%w: it offers sub-types %d", ErrNoSecurity, offered)
	}
	if err := c.write(step, binary.BigEndian.AppendUint32(nil, uint32(sub))); err != nil {
		return 0, err
	}
	if b, err = c.read(step, 1); err != nil {
		return 0, err
	}
	if b[0] != subTypeTaken {
		return 0, &Error{Kind: KindRefused, Step: step, Err: fmt.Errorf("%v: %w", sub, &RefusedError{})}
	}
	return sub, nil
}

// strongest is the sub-type to use, 0 if there is none.
func (l Login) strongest(offered []uint32) SubType {
	for _, t := range []struct {
		sub SubType
		can bool
	}{{X509Plain, l.User != ""}, {X509Vnc, l.Password != ""}, {X509None, !l.Required}} {
		for _, o := range offered {
			if t.can && o == uint32(t.sub) {
				return t.sub
			}
		}
	}
	return 0
}
