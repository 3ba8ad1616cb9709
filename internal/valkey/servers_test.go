package valkey_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/testkit/enginetest"
	"github.com/gatehouse-proxy/gatehouse/internal/valkey"
)

func TestAPasswordIsReadAtEachConnection(t *testing.T) {
	t.Parallel()
	e := enginetest.Redis(t, "requirepass", "one")
	var password atomic.Pointer[string]
	set := func(s string) { password.Store(&s) }
	set("one")
	config := at(e.Addr)
	config.ReadPassword = func() (string, error) { return *password.Load(), nil }
	c := client(t, config)
	if _, err := first(t, c); err != nil {
		t.Fatal(err)
	}
	set("two")
	for _, words := range [][]string{{"CONFIG", "SET", "requirepass", "two"}, {"CLIENT", "KILL", "TYPE", "normal", "SKIPME", "no"}} {
		_, _ = c.Do(t.Context(), words[0], words[1], words[2:]...)
	}
	within(t, 4*time.Second, "it is connected again", func() bool {
		_, err := add(t.Context(), c)
		return err == nil
	})
}

func TestAClusterIsUsedByOneTag(t *testing.T) {
	t.Parallel()
	masters := enginetest.Masters(t)
	c := client(t, at(masters[2].Addr, masters[0].Addr))
	for want := range int64(3) {
		if n, err := add(t.Context(), c); err != nil || n != want+1 {
			t.Fatalf("%d, %v", n, err)
		}
	}
	one := client(t, at(masters[0].Addr))
	if n, err := add(t.Context(), one); err != nil || n != 4 {
		t.Errorf("by one address: %d, %v", n, err)
	}
}

func TestAPromotedReplicaIsFound(t *testing.T) {
	t.Parallel()
	master := enginetest.Redis(t)
	replica := enginetest.Replica(t, master.Addr)
	var addresses []string
	for _, s := range enginetest.Sentinels(t, master) {
		addresses = append(addresses, s.Addr)
	}
	c := client(t, valkey.Config{Addresses: addresses, Sentinel: enginetest.MasterName})
	if _, err := first(t, c); err != nil {
		t.Fatal(err)
	}
	replica.Wait(t, "GET {t}n", "1")
	master.Kill()
	start := time.Now()
	within(t, 15*time.Second, "the replica is asked", func() bool {
		n, err := add(t.Context(), c)
		if err == nil && n != 2 {
			t.Errorf("%d", n)
		}
		return err == nil
	})
	t.Log("promoted after", time.Since(start))
}

// certificate writes one for 127.0.0.1, which is its own authority, and its key as PEM files.
func certificate(t *testing.T) (certFile, keyFile string, pair tls.Certificate, pool *x509.CertPool) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "engine"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	certPEM := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	keyPEM := pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret})
	certFile, keyFile = filepath.Join(t.TempDir(), "cert.pem"), filepath.Join(t.TempDir(), "key.pem")
	if err := errors.Join(os.WriteFile(certFile, certPEM, 0o600), os.WriteFile(keyFile, keyPEM, 0o600)); err != nil {
		t.Fatal(err)
	}
	if pair, err = tls.X509KeyPair(certPEM, keyPEM); err != nil {
		t.Fatal(err)
	}
	pool = x509.NewCertPool()
	pool.AppendCertsFromPEM(certPEM)
	return certFile, keyFile, pair, pool
}

func TestTLSHasTheServersAndTheClientsCertificate(t *testing.T) {
	t.Parallel()
	certFile, keyFile, pair, pool := certificate(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	_, port, _ := net.SplitHostPort(address)
	l.Close()
	enginetest.Redis(t, "tls-port", port, "tls-cert-file", certFile, "tls-key-file", keyFile, "tls-ca-cert-file", certFile, "tls-auth-clients", "yes")
	for name, test := range map[string]struct {
		tls *tls.Config
		ok  bool
	}{
		"both":                    {&tls.Config{RootCAs: pool, Certificates: []tls.Certificate{pair}}, true},
		"no client's certificate": {&tls.Config{RootCAs: pool}, false},
		"an unknown authority":    {&tls.Config{Certificates: []tls.Certificate{pair}}, false},
		"no TLS":                  {nil, false},
	} {
		config := at(address)
		config.TLS = test.tls
		c, ask := client(t, config), add
		if test.ok {
			ask = func(context.Context, *valkey.Client) (int64, error) { return first(t, c) }
		}
		if _, err := ask(t.Context(), c); (err == nil) != test.ok {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestSentinelsHaveAPasswordOfTheirOwn(t *testing.T) {
	t.Parallel()
	master := enginetest.Redis(t)
	enginetest.Replica(t, master.Addr)
	sentinels := enginetest.Sentinels(t, master)
	config := valkey.Config{Sentinel: enginetest.MasterName, ReadPassword: func() (string, error) { return "masters", nil }, ReadSentinelPassword: func() (string, error) { return "sentinels", nil }}
	master.Wait(t, "CONFIG SET requirepass masters", "OK")
	for _, s := range sentinels {
		s.Wait(t, "SENTINEL SET "+enginetest.MasterName+" auth-pass masters", "OK")
		s.Wait(t, "ACL SETUSER default resetpass >sentinels", "OK")
		config.Addresses = append(config.Addresses, s.Addr)
	}
	if _, err := first(t, client(t, config)); err != nil {
		t.Error(err)
	}
}
