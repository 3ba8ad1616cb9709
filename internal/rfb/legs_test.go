package rfb_test

import (
	"bytes"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/rfb"
)

// speaking is a connection to a server whose greeting is changed to an older version's.
type speaking struct {
	net.Conn
	version string
	changed bool
}

func (s *speaking) Read(p []byte) (int, error) {
	n, err := s.Conn.Read(p)
	if !s.changed && n == 4 { // the server's "RFB "
		s.changed = true
		rest := make([]byte, 8)
		if _, err := readN(s.Conn, len(rest)); err != nil {
			return n, err
		}
		s.Conn = &prefixed{Conn: s.Conn, head: bytes.NewReader([]byte(s.version + "\n"))}
	}
	return n, err
}

type prefixed struct {
	net.Conn
	head *bytes.Reader
}

func (p *prefixed) Read(b []byte) (int, error) {
	if p.head.Len() > 0 {
		return p.head.Read(b)
	}
	return p.Conn.Read(b)
}

// Both legs against each other: every version, every type, accepted and refused.
func TestTheLegsUnderstandEachOther(t *testing.T) {
	logins := map[string]rfb.Login{
		"none":     {},
		"password": {Password: "secret and more"},
		"tls":      {TLS: clientTLS()},
		"tls+pw":   {Password: "secret and more", TLS: clientTLS()},
		"tls+user": {User: "me", Password: "secret and more", TLS: clientTLS()},
	}
	all := "x509none x509vnc x509plain"
	uses := map[string]map[string]rfb.Security{ // by offer, by login; missing: nothing in common
		"none":             {"none": rfb.SecurityNone, "password": rfb.SecurityNone},
		"vncauth":          {"password": rfb.SecurityVNCAuth},
		all:                {"tls": rfb.SecurityX509None, "tls+pw": rfb.SecurityX509Vnc, "tls+user": rfb.SecurityX509Plain},
		all + " vncauth":   {"password": rfb.SecurityVNCAuth, "tls": rfb.SecurityX509None, "tls+pw": rfb.SecurityX509Vnc, "tls+user": rfb.SecurityX509Plain},
		"x509plain":        {"tls+user": rfb.SecurityX509Plain},
		"x509vnc":          {"tls+pw": rfb.SecurityX509Vnc, "tls+user": rfb.SecurityX509Vnc},
		"x509vnc x509none": {"tls": rfb.SecurityX509None, "tls+pw": rfb.SecurityX509Vnc, "tls+user": rfb.SecurityX509Vnc},
	}
	for offered, byLogin := range uses {
		for loginName, login := range logins {
			for _, version := range []string{"003.003", "003.007", "003.008"} {
				for _, refusal := range []string{"", "Why?"} {
					t.Run(fmt.Sprint(offered, "/", loginName, "/", version, refusal), func(t *testing.T) {
						want := byLogin[loginName]
						if version == "003.003" && want >= rfb.SecurityX509None {
							want = 0
						}
						meet(t, offered, login, version, refusal, want)
					})
				}
			}
		}
	}
}

func meet(t *testing.T, offered string, login rfb.Login, version, refusal string, want rfb.Security) {
	client, server := loopback(t)
	type outcome struct {
		proof rfb.Proof
		err   error
		conn  net.Conn
	}
	served := make(chan outcome, 1)
	go func() {
		s := rfb.NewServer(server, rfb.Timeouts{})
		proof, shared, err := serve(s, offer(offered), refusal)
		if err == nil && refusal == "" && !shared {
			err = errors.New("the shared flag is missing")
		}
		if err != nil || refusal != "" {
			server.Close()
		}
		served <- outcome{proof, err, s.Conn()}
	}()
	d, err := rfb.Connect(&speaking{Conn: client, version: version}, login, 0)
	if err != nil {
		client.Close()
	}
	got := <-served
	switch {
	case want == 0:
		wantKind(t, err, rfb.KindOf(err))
		if kind := rfb.KindOf(err); kind != rfb.KindNoSecurity && kind != rfb.KindRefused || got.err == nil && refusal == "" {
			t.Errorf("%v, %v", err, got.err)
		}
		return
	case got.err != nil:
		t.Fatal("server:", got.err)
	}
	if got.proof.Security != want {
		t.Errorf("server saw %v, want %v", got.proof.Security, want)
	}
	if want == rfb.SecurityX509Plain && (got.proof.User != "me" || got.proof.Password != "secret and more") ||
		(want == rfb.SecurityVNCAuth || want == rfb.SecurityX509Vnc) && !rfb.VerifyVNC(challenge, got.proof.Response, "secret a") ||
		login.TLS != nil && got.proof.ServerName != "desk.vnc.test" {
		t.Errorf("the proof is %+v", got.proof)
	}
	if refusal != "" {
		kind := rfb.KindRefused
		if want == rfb.SecurityVNCAuth || want == rfb.SecurityX509Vnc || want == rfb.SecurityX509Plain {
			kind = rfb.KindWrongPassword
		}
		wantKind(t, err, kind)
		return
	}
	if err != nil || d.Init != desktop || d.Security != want {
		t.Fatalf("%+v, %v", d, err)
	}
	if _, secure := d.Conn.(*tls.Conn); secure != (login.TLS != nil) {
		t.Errorf("goes on with %T", d.Conn)
	}
	exchange(t, d.Conn, got.conn)
	exchange(t, got.conn, d.Conn)
}

// exchange checks that what one end writes the other reads.
func exchange(t *testing.T, from, to net.Conn) {
	t.Helper()
	go from.Write([]byte("hello"))
	if b, err := readN(to, 5); string(b) != "hello" {
		t.Errorf("%q, %v", b, err)
	}
}

func TestAWorkstationMustBeTheOneThatIsTrusted(t *testing.T) {
	for name, config := range map[string]*tls.Config{
		"unknown CA": {ServerName: "desk.vnc.test"}, "other name": {ServerName: "desk.test", RootCAs: roots()}, "no name": {RootCAs: roots()},
		"pin": {InsecureSkipVerify: true, VerifyConnection: func(tls.ConnectionState) error { return errors.New("another key") }},
	} {
		t.Run(name, func(t *testing.T) {
			client, server := loopback(t)
			go func() {
				serve(rfb.NewServer(server, rfb.Timeouts{}), offer("x509plain"), "")
				server.Close()
			}()
			_, err := rfb.Connect(client, rfb.Login{User: "me", Password: "secret", TLS: config}, 0)
			client.Close()
			wantKind(t, err, rfb.KindTLS)
		})
	}
}

// What is said in clear behind the sub-type is not taken for what was said inside TLS.
func TestAWorkstationsClearTextIsNotTakenForTLS(t *testing.T) {
	client, server := loopback(t)
	said := make(chan struct{})
	go func() {
		defer close(said)
		for _, step := range []struct {
			say  string
			hear int
		}{{"RFB 003.008\n", 12}, {"\x01\x13", 1}, {"\x00\x02", 2}, {"\x00\x01\x00\x00\x01\x04", 4}, {"\x01" + "\x00\x00\x00\x00" + initBytes, 1}} {
			server.Write([]byte(step.say))
			readN(server, step.hear)
		}
	}()
	_, err := rfb.Connect(client, rfb.Login{TLS: clientTLS()}, 0)
	wantKind(t, err, rfb.KindTLS)
	<-said
}
