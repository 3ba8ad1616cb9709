package rfb_test

import (
	"errors"
	"net"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/rfb"
)

const (
	desk38 = "S RFB 003.008\n"
	asks   = "C \x01" // ClientInit: shared
	tooBig = "S \x7f\xff\xff\xff"
)

var (
	plainLogin = rfb.Login{User: "me", Password: "secret"}
	tlsLogin   = rfb.Login{User: "me", Password: "secret", TLS: clientTLS()}
	hello      = "S " + initBytes
)

// dial plays the workstation of d against Connect.
func dial(t *testing.T, d dialogue, l rfb.Login) (desktop *rfb.Desktop, err error) {
	t.Helper()
	d.turned().against(t, func(conn net.Conn) { desktop, err = rfb.Connect(conn, l, 0) })
	return desktop, err
}

func TestWorkstationsAreSpokenToInTheirVersion(t *testing.T) {
	ask, answer := "S "+string(challenge[:]), "C "+string(response[:])
	for name, test := range map[string]struct {
		talk  dialogue
		login rfb.Login
		want  rfb.Security
	}{
		"3.8 None":        {dialogue{desk38, says38, "S \x01\x01", "C \x01", ok, asks, hello}, rfb.Login{}, rfb.SecurityNone},
		"3.7 None":        {dialogue{"S RFB 003.007\n", says37, "S \x01\x01", "C \x01", asks, hello}, rfb.Login{}, rfb.SecurityNone},
		"3.3 None":        {dialogue{"S RFB 003.003\n", says33, "S \x00\x00\x00\x01", asks, hello}, plainLogin, rfb.SecurityNone},
		"3.6 is 3.3":      {dialogue{"S RFB 003.006\n", says33, "S \x00\x00\x00\x01", asks, hello}, rfb.Login{}, rfb.SecurityNone},
		"3.889 is 3.8":    {dialogue{"S RFB 003.889\n", says38, "S \x01\x01", "C \x01", ok, asks, hello}, rfb.Login{}, rfb.SecurityNone},
		"5.0 is 3.8":      {dialogue{"S RFB 005.000\n", says38, "S \x01\x01", "C \x01", ok, asks, hello}, rfb.Login{}, rfb.SecurityNone},
		"3.8 VncAuth":     {dialogue{desk38, says38, "S \x03\x01\x10\x02", "C \x02", ask, answer, ok, asks, hello}, plainLogin, rfb.SecurityVNCAuth},
		"3.7 VncAuth":     {dialogue{"S RFB 003.007\n", says37, "S \x01\x02", "C \x02", ask, answer, ok, asks, hello}, plainLogin, rfb.SecurityVNCAuth},
		"3.3 VncAuth":     {dialogue{"S RFB 003.003\n", says33, "S \x00\x00\x00\x02", ask, answer, ok, asks, hello}, plainLogin, rfb.SecurityVNCAuth},
		"not asked for":   {dialogue{desk38, says38, "S \x02\x13\x01", "C \x01", ok, asks, hello}, plainLogin, rfb.SecurityNone},
		"password unused": {dialogue{desk38, says38, "S \x02\x02\x01", "C \x01", ok, asks, hello}, rfb.Login{User: "me"}, rfb.SecurityNone},
	} {
		t.Run(name, func(t *testing.T) {
			d, err := dial(t, test.talk, test.login)
			if err != nil || d.Init != desktop || d.Security != test.want {
				t.Errorf("%+v, %v", d, err)
			}
		})
	}
}

func TestFailingWorkstationsSayWhy(t *testing.T) {
	ask, answer := "S "+string(challenge[:]), "C "+string(response[:])
	auth := dialogue{desk38, says38, "S \x01\x02", "C \x02", ask, answer}
	none := dialogue{desk38, says38, "S \x01\x01", "C \x01"}
	ven := dialogue{desk38, says38, "S \x02\x13\x02", "C \x13"}
	sub := append(ven[:4:4], "S \x00\x02", "C \x00\x02")
	tooMany := "S \x00\x00\x00\x1aToo many security failures"
	for name, test := range map[string]struct {
		talk  dialogue
		login rfb.Login
		kind  rfb.Kind
		says  string
	}{
		"refused from scratch":   {dialogue{"S RFB 003.003\n", says33, "S \x00\x00\x00\x00\x00\x00\x00\x04Why?"}, tlsLogin, rfb.KindRefused, "refused: Why?"},
		"blacklisted":            {dialogue{"S RFB 003.003\n", says33, "S \x00\x00\x00\x00", tooMany}, tlsLogin, rfb.KindBlacklisted, "Too many"},
		"blacklisted in 3.8":     {dialogue{desk38, says38, "S \x00", tooMany}, plainLogin, rfb.KindBlacklisted, "Too many"},
		"blacklisted at the end": {append(auth[:6:6], no, tooMany), plainLogin, rfb.KindBlacklisted, "Too many"},
		"result 2":               {append(auth[:6:6], "S \x00\x00\x00\x02\x00\x00\x00\x00"), plainLogin, rfb.KindBlacklisted, "without a reason"},
		"no type with a reason":  {dialogue{desk38, says38, "S \x00\x00\x00\x00\x04\x1b[0m"}, plainLogin, rfb.KindRefused, "refused: ?[0m"},
		"wrong password":         {append(auth[:6:6], no, reason), plainLogin, rfb.KindWrongPassword, "wrong user or password (refused: Why?)"},
		"wrong password, gone":   {append(auth[:6:6], no, "S \x00\x00\x00\x07Aut"), plainLogin, rfb.KindWrongPassword, "wrong user or password"},
		"wrong password in 3.3":  {dialogue{"S RFB 003.003\n", says33, "S \x00\x00\x00\x02", ask, answer, no}, plainLogin, rfb.KindWrongPassword, "wrong user or password"},
		"None refused":           {append(none[:4:4], no, reason), rfb.Login{}, rfb.KindRefused, "refused: Why?"},
		"a result that is none":  {append(none[:4:4], "S \x00\x00\x00\x03"), rfb.Login{}, rfb.KindGarbage, "3 is none"},

		"needs a password":         {dialogue{desk38, says38, "S \x02\x02\x10"}, rfb.Login{}, rfb.KindNoSecurity, "[2 16]"},
		"3.3 needs a password":     {dialogue{"S RFB 003.003\n", says33, "S \x00\x00\x00\x02"}, rfb.Login{}, rfb.KindNoSecurity, "type 2"},
		"3.3 type 257 is not 1":    {dialogue{"S RFB 003.003\n", says33, "S \x00\x00\x01\x01"}, plainLogin, rfb.KindNoSecurity, "type 257"},
		"TLS is not left out":      {dialogue{desk38, says38, "S \x02\x01\x02"}, tlsLogin, rfb.KindNoSecurity, "[1 2]"},
		"nor in 3.3":               {dialogue{"S RFB 003.003\n", says33, "S \x00\x00\x00\x01"}, tlsLogin, rfb.KindNoSecurity, "type 1"},
		"3.3 cannot ask for it":    {dialogue{"S RFB 003.003\n", says33, "S \x00\x00\x00\x13"}, tlsLogin, rfb.KindNoSecurity, "type 19"},
		"anonymous TLS":            {append(sub[:6:6], "S \x00\x02\x00\x00\x01\x00\x00\x00\x01\x02"), tlsLogin, rfb.KindNoSecurity, "[256 258]"},
		"X509Vnc needs password":   {append(sub[:6:6], "S \x00\x01\x00\x00\x01\x05"), rfb.Login{TLS: clientTLS()}, rfb.KindNoSecurity, "[261]"},
		"None is not required":     {dialogue{desk38, says38, "S \x01\x01"}, rfb.Login{Password: "secret", Required: true}, rfb.KindNoSecurity, "[1]"},
		"nor X509None":             {append(sub[:6:6], "S \x00\x01\x00\x00\x01\x04"), rfb.Login{Password: "secret", TLS: clientTLS(), Required: true}, rfb.KindNoSecurity, "[260]"},
		"no sub-types":             {append(sub[:6:6], "S \x00\x00"), tlsLogin, rfb.KindNoSecurity, "[]"},
		"VeNCrypt 0.1":             {append(ven[:4:4], "S \x00\x01"), tlsLogin, rfb.KindVersion, "0.1"},
		"VeNCrypt declined":        {append(sub[:6:6], "S \xff"), tlsLogin, rfb.KindVersion, "declined"},
		"sub-type refused":         {append(sub[:6:6], "S \x00\x01\x00\x00\x01\x04", "C \x00\x00\x01\x04", "S \x00"), tlsLogin, rfb.KindRefused, "X509None"},
		"reason too long":          {dialogue{desk38, says38, "S \x00\x00\x00\x10\x00"}, rfb.Login{}, rfb.KindTooLong, "4096"},
		"result's reason too long": {append(none[:4:4], no, tooBig), rfb.Login{}, rfb.KindTooLong, "2147483647"},
		"name too long":            {append(none[:4:4], ok, asks, "S "+initBytes[:20]+"\x00\x00\x10\x01"), rfb.Login{}, rfb.KindTooLong, "4097"},
		"no width":                 {append(none[:4:4], ok, asks, "S \x00\x00"+initBytes[2:20]), rfb.Login{}, rfb.KindGarbage, "0x720"},
		"no height":                {append(none[:4:4], ok, asks, "S \x05\x00\x00\x00"+initBytes[4:20]), rfb.Login{}, rfb.KindGarbage, "1280x0"},
		"HTTP":                     {dialogue{"S HTTP"}, rfb.Login{}, rfb.KindHTTP, "HTTP"},
		"ssh":                      {dialogue{"S SSH-"}, rfb.Login{}, rfb.KindGarbage, "SSH"},
		"TLS at once":              {dialogue{"S \x16\x03\x03\x00"}, rfb.Login{}, rfb.KindLateTLS, "TLS"},
		"too old":                  {dialogue{"S RFB 002.000\n"}, rfb.Login{}, rfb.KindVersion, "002.000"},
		"gone":                     {dialogue{"S RFB 00"}, rfb.Login{}, rfb.KindGone, "EOF"},
		"gone before its types":    {dialogue{desk38, says38}, rfb.Login{}, rfb.KindGone, "reading the security types"}, // a pipe has two errors for it
	} {
		t.Run(name, func(t *testing.T) {
			hangsUp := append(test.talk[:len(test.talk):len(test.talk)], "X ")
			_, err := dial(t, hangsUp, test.login)
			wantKind(t, err, test.kind)
			if err == nil || !strings.Contains(err.Error(), test.says) {
				t.Errorf("%v, want %q in it", err, test.says)
			}
			var refused *rfb.RefusedError
			said := strings.Contains(test.says, "refused") || test.kind == rfb.KindBlacklisted
			if errors.Is(err, rfb.ErrWrongPassword) != (test.kind == rfb.KindWrongPassword) ||
				errors.Is(err, rfb.ErrNoSecurity) != (test.kind == rfb.KindNoSecurity) || said && !errors.As(err, &refused) {
				t.Errorf("%#v", err)
			}
		})
	}
}

// A server that refuses at once may be gone before it is answered; over TCP its words are there
// nevertheless.
func TestARefusalIsHeardThoughTheAnswerCannotBeSent(t *testing.T) {
	conn, desk := loopback(t)
	desk.Write([]byte("RFB 003.003\n\x00\x00\x00\x00\x00\x00\x00\x04Why?"))
	desk.(*net.TCPConn).CloseWrite()
	deaf := &deafConn{Conn: conn}
	_, err := rfb.Connect(deaf, rfb.Login{}, 0)
	wantKind(t, err, rfb.KindRefused)
}

// deafConn cannot be written to.
type deafConn struct{ net.Conn }

func (*deafConn) Write([]byte) (int, error) { return 0, net.ErrClosed }

func TestCredentialsThatDoNotFitAreNotSent(t *testing.T) {
	conn, desk := net.Pipe()
	desk.Close()
	long := strings.Repeat("x", rfb.MaxCredential+1)
	for _, l := range []rfb.Login{{User: long}, {Password: long}} {
		if _, err := rfb.Connect(conn, l, 0); !errors.Is(err, rfb.ErrMisuse) || strings.Contains(err.Error(), "xx") {
			t.Error(err)
		}
	}
}
