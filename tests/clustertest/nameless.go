//go:build unix

package clustertest

import (
	"context"
	"crypto/tls"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"time"
)

// Sub-types of VeNCrypt.
const (
	X509None  uint32 = 260
	X509Plain uint32 = 262
)

// ViewNameless connects to addr as libvncclient does, on which Remmina is: it takes the first type of
// VeNCrypt, and sends no host name. It returns that type. With X509None it is refused.
func (c *Cluster) ViewNameless(ctx context.Context, addr string) (first uint32, err error) {
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", addr)
	if err != nil {
		return 0, err
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(viewTimeout)); err != nil {
		return 0, err
	}
	// The security types are VeNCrypt alone, whose version is 0.2.
	const version, securityTypes, chosen, venCrypt = "RFB 003.008\n", "\x01\x13", "\x13", "\x00\x02"
	for _, step := range []struct{ heard, said string }{{version, version}, {securityTypes, chosen}, {venCrypt, venCrypt}, {"\x00", ""}} {
		if err := hear(conn, step.heard); err != nil {
			return 0, err
		}
		if _, err := io.WriteString(conn, step.said); err != nil {
			return 0, err
		}
	}
	var count [1]byte
	if _, err := io.ReadFull(conn, count[:]); err != nil || count[0] == 0 {
		return 0, fmt.Errorf("%d types: %w", count[0], err)
	}
	types := make([]uint32, count[0])
	if err := binary.Read(conn, binary.BigEndian, types); err != nil {
		return 0, err
	}
	if first = types[0]; first != X509None {
		return first, nil
	}
	if err := binary.Write(conn, binary.BigEndian, first); err != nil {
		return first, err
	}
	if err := hear(conn, "\x01"); err != nil {
		return first, err
	}
	inside := tls.Client(conn, &tls.Config{InsecureSkipVerify: true}) // without a name there is nothing to verify
	var result uint32
	if err := binary.Read(inside, binary.BigEndian, &result); err != nil {
		return first, err
	}
	if result == 0 {
		return first, errors.New("a viewer that has shown nothing is let in")
	}
	return first, nil
}
