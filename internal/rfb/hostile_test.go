package rfb_test

import (
	"crypto/tls"
	"errors"
	"net"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/rfb"
)

// Faults of viewers, their answers, and how they are counted.
func TestBadViewersEndClearly(t *testing.T) {
	const tooLong = "S \x00\x00\x00\x01\x00\x00\x00\x2aThe user name or the password is too long."
	begin := dialogue{greets, says38, "S \x01\x13"}
	version := append(begin[:3:3], "C \x13", "S \x00\x02")
	sub := append(version[:5:5], "C \x00\x02", "S \x00\x01\x00\x00\x01\x06")
	taken := append(sub[:7:7], "C \x00\x00\x01\x06", "S \x01")
	unoffered := "\x00\x00\x00\x22The security type was not offered."
	for name, test := range map[string]struct {
		offer string
		talk  dialogue
		kind  rfb.Kind
	}{
		"garbage":                {"x509plain", dialogue{greets, "C \x00\xffx\n"}, rfb.KindGarbage},
		"ssh":                    {"x509plain", dialogue{greets, "C SSH-"}, rfb.KindGarbage},
		"no version":             {"x509plain", dialogue{greets, "C RFB 003-008\n"}, rfb.KindGarbage},
		"no number":              {"x509plain", dialogue{greets, "C RFB 003.0\xff8\n"}, rfb.KindGarbage},
		"no line end":            {"x509plain", dialogue{greets, "C RFB 003.0080"}, rfb.KindGarbage},
		"HTTP":                   {"x509plain", dialogue{greets, "C GET "}, rfb.KindHTTP},
		"HTTP with a body":       {"x509plain", dialogue{greets, "C POST"}, rfb.KindHTTP},
		"HTTP/2":                 {"x509plain", dialogue{greets, "C PRI "}, rfb.KindHTTP},
		"TLS after the greeting": {"x509plain", dialogue{greets, "C \x16\x03\x01\x02"}, rfb.KindLateTLS},
		"repeater":               {"x509plain", dialogue{greets, "C RFB 000.000\n"}, rfb.KindVersion},
		"3.2":                    {"x509plain", dialogue{greets, "C RFB 003.002\n"}, rfb.KindVersion},
		"half a version":         {"x509plain", dialogue{greets, "C RFB 003", "X "}, rfb.KindGone},
		"nothing":                {"x509plain", dialogue{greets, "X "}, rfb.KindGone},

		"type None":                  {"x509plain", append(begin[:3:3], "C \x01", no, "S "+unoffered), rfb.KindNotOffered},
		"type 0":                     {"x509plain", append(begin[:3:3], "C \x00", no, "S "+unoffered), rfb.KindNotOffered},
		"type 2 in 3.7":              {"x509plain", dialogue{greets, says37, "S \x01\x13", "C \x02", no}, rfb.KindNotOffered},
		"type 19 where only None is": {"none", dialogue{greets, says38, "S \x01\x01", "C \x13", no, "S " + unoffered}, rfb.KindNotOffered},
		"no type":                    {"x509plain", append(begin[:3:3], "X "), rfb.KindGone},
		"VeNCrypt 0.1":               {"x509plain", append(version[:5:5], "C \x00\x01", "S \xff"), rfb.KindVersion},
		"VeNCrypt 0.0":               {"x509plain", append(version[:5:5], "C \x00\x00", "S \xff"), rfb.KindVersion},
		"VeNCrypt 1.2":               {"x509plain", append(version[:5:5], "C \x01\x02", "S \xff"), rfb.KindVersion},
		"sub-type Plain":             {"x509plain", append(sub[:7:7], "C \x00\x00\x01\x00", "S \x00"), rfb.KindNotOffered},
		"sub-type X509None":          {"x509plain", append(sub[:7:7], "C \x00\x00\x01\x04", "S \x00"), rfb.KindNotOffered},
		"sub-type 262 + 2^16":        {"x509plain", append(sub[:7:7], "C \x00\x01\x01\x06", "S \x00"), rfb.KindNotOffered},

		"bytes before the ack":   {"x509plain", append(sub[:7:7], "C \x00\x00\x01\x06\x00"), rfb.KindPlaintext},
		"TLS before the ack":     {"x509plain", append(sub[:7:7], "C \x00\x00\x01\x06\x16"), rfb.KindPlaintext},
		"bytes after the ack":    {"x509plain", append(taken[:9:9], "C \x00\x00\x00\x00\x00"), rfb.KindPlaintext},
		"TLS data after the ack": {"x509plain", append(taken[:9:9], "C \x17\x03\x03\x00\x01"), rfb.KindPlaintext},
		"SSLv2 after the ack":    {"x509plain", append(taken[:9:9], "C \x16\x02\x01\x00\x00"), rfb.KindPlaintext},
		"gone after the ack":     {"x509plain", append(taken[:9:9], "X "), rfb.KindGone},
		"no user name":           {"x509plain", append(taken[:9:9], "T a.vnc.test", "X "), rfb.KindGone},
		"long user name":         {"x509plain", append(taken[:9:9], "T a.vnc.test", "C \x00\x00\x01\x00\x00\x00\x00\x00", tooLong), rfb.KindTooLong},
		"long password":          {"x509plain", append(taken[:9:9], "T a.vnc.test", "C \x00\x00\x00\x00\xff\xff\xff\xff", tooLong), rfb.KindTooLong},
		"half a password":        {"x509plain", append(taken[:9:9], "T a.vnc.test", "C \x00\x00\x00\x00\x00\x00\x00\xffpw", "X "), rfb.KindGone},
		"half a response":        {"vncauth", dialogue{greets, says33, "S \x00\x00\x00\x02" + string(challenge[:]), "C 1234567", "X "}, rfb.KindGone},
		"3.7 and not None":       {"none", dialogue{greets, says37, "S \x01\x01", "C \x02", no}, rfb.KindNotOffered},
		"gone before accepted":   {"none", dialogue{greets, says37, "X "}, rfb.KindGone},
		"no ClientInit":          {"none", dialogue{greets, says38, "S \x01\x01", "C \x01", ok, "X "}, rfb.KindGone},
	} {
		t.Run(name, func(t *testing.T) {
			test.talk.against(t, func(conn net.Conn) {
				s := rfb.NewServer(conn, rfb.Timeouts{})
				_, _, err := serve(s, offer(test.offer), "")
				wantKind(t, err, test.kind)
				if err := s.Refuse("x"); !errors.Is(err, rfb.ErrMisuse) {
					t.Errorf("more was said: %v", err)
				}
			})
		})
	}
}

// The longest credentials are taken whole.
func TestCredentialsMayFillTheirBound(t *testing.T) {
	user, password := strings.Repeat("u", rfb.MaxCredential), strings.Repeat("p", rfb.MaxCredential)
	dialogue{greets, says38, "S \x01\x13", "C \x13", "S \x00\x02", "C \x00\x02", "S \x00\x01\x00\x00\x01\x06", "C \x00\x00\x01\x06",
		"S \x01", "T a.vnc.test", "C \x00\x00\x00\xff\x00\x00\x00\xff" + user + password}.against(t, func(conn net.Conn) {
		proof, err := rfb.NewServer(conn, rfb.Timeouts{}).Negotiate(offer("x509plain"))
		if proof.User != user || proof.Password != password || err != nil {
			t.Error(len(proof.User), len(proof.Password), err)
		}
	})
}

// viewerTLS is a viewer that chooses X509None and does TLS as config says. It returns its own
// error.
func viewerTLS(conn net.Conn, config *tls.Config) error {
	defer conn.Close()
	for _, step := range []struct {
		say  string
		hear int
	}{{"", 12}, {"RFB 003.008\n", 2}, {"\x13", 2}, {"\x00\x02", 6}, {"\x00\x00\x01\x04", 1}} {
		if _, err := conn.Write([]byte(step.say)); err != nil {
			return err
		}
		if _, err := readN(conn, step.hear); err != nil {
			return err
		}
	}
	return tls.Client(conn, config).Handshake()
}

func TestTLSThatFailsSaysSoWithoutTheHostName(t *testing.T) {
	secret := "k3jabcdefg.vnc.test"
	source := func(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
		return nil, errors.New("no certificate for " + hello.ServerName)
	}
	old := &tls.Config{ServerName: secret, RootCAs: roots(), MinVersion: tls.VersionTLS10, MaxVersion: tls.VersionTLS11}
	for name, test := range map[string]struct {
		server, client *tls.Config
		says           string
	}{
		"unknown CA":     {serverTLS(), &tls.Config{ServerName: secret}, "bad certificate"},
		"TLS 1.1":        {serverTLS(), old, "unsupported versions"},
		"TLS 1.1 taken":  {oldTLS(), old, "TLS 1.1 is too old"},
		"no certificate": {&tls.Config{GetCertificate: source}, &tls.Config{ServerName: secret, RootCAs: roots()}, "no certificate or configuration"},
	} {
		t.Run(name, func(t *testing.T) {
			conn, viewer := loopback(t)
			done := make(chan error, 1)
			go func() { done <- viewerTLS(viewer, test.client) }()
			_, err := rfb.NewServer(conn, rfb.Timeouts{}).Negotiate(rfb.Offer{SubTypes: []rfb.SubType{rfb.X509None}, TLS: test.server})
			conn.Close()
			wantKind(t, err, rfb.KindTLS)
			if said := err.Error(); !strings.Contains(said, test.says) || strings.Contains(said, "k3j") {
				t.Errorf("%v, want %q and no host name", err, test.says)
			}
			<-done
		})
	}
}

// oldTLS hands out a configuration that would do with TLS 1.0.
func oldTLS() *tls.Config {
	old := serverTLS()
	old.MinVersion = tls.VersionTLS10
	return &tls.Config{GetConfigForClient: func(*tls.ClientHelloInfo) (*tls.Config, error) { return old, nil }}
}
