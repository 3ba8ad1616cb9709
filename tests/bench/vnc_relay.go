//go:build linux

package main

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/http/pprof"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// relayCommand is the first argument that turns this binary into the bare copy.
const relayCommand = "relay"

// serveRelay ends TLS and copies to target, with nothing of its own: the cost of crypto/tls and
// io.Copy in any Go program. It writes two addresses as one line, of its listener and of its
// profiles (that of the heap can make its garbage collector run), and ends with its standard input.
func serveRelay(stdin io.Reader, stdout io.Writer, certFile, keyFile, target string) error {
	cert, err := tls.LoadX509KeyPair(certFile, keyFile)
	if err != nil {
		return err
	}
	admin, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	mux := http.NewServeMux()
	mux.HandleFunc("/debug/pprof/", pprof.Index)
	profiles := &http.Server{Handler: mux, ReadHeaderTimeout: ioTimeout}
	defer profiles.Close()
	go profiles.Serve(admin)

	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	context.AfterFunc(ctx, func() { l.Close() })
	go func() {
		defer stop()
		io.Copy(io.Discard, stdin)
	}()
	if _, err := fmt.Fprintln(stdout, l.Addr(), admin.Addr()); err != nil {
		return err
	}
	config := &tls.Config{Certificates: []tls.Certificate{cert}}
	var wg sync.WaitGroup
	defer wg.Wait()
	for {
		c, err := l.Accept()
		if err != nil {
			if ctx.Err() != nil {
				return nil
			}
			return err
		}
		wg.Go(func() { relay(ctx, tls.Server(c, config), target) })
	}
}

// relay is one connection of the bare copy. Its failures show at the viewer.
func relay(ctx context.Context, viewer *tls.Conn, target string) {
	defer viewer.Close()
	viewer.SetDeadline(time.Now().Add(ioTimeout))
	if err := viewer.HandshakeContext(ctx); err != nil {
		return
	}
	viewer.SetDeadline(time.Time{})
	dialer := net.Dialer{Timeout: ioTimeout}
	nc, err := dialer.DialContext(ctx, "tcp", target)
	if err != nil {
		return
	}
	desktop := nc.(*net.TCPConn)
	defer desktop.Close()
	end := context.AfterFunc(ctx, func() {
		viewer.Close()
		desktop.Close()
	})
	defer end()
	var wg sync.WaitGroup
	wg.Go(func() {
		io.Copy(desktop, viewer)
		desktop.CloseWrite()
	})
	io.Copy(viewer, desktop)
	viewer.CloseWrite()
	wg.Wait()
}

// vncDomain is the base of the names that viewers send. Plain glibc need not resolve it, because
// they dial the loopback.
const vncDomain = "vnc.localhost"

// certificate is the certificate of every server of a fleet. It is of the cheapest common kind, so
// that none is measured for its key.
type certificate struct {
	cert, key string // files
	roots     *x509.CertPool
}

// newCertificate makes a certificate for the loopback and every name under vncDomain in dir.
func newCertificate(dir string) (certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return certificate{}, err
	}
	now := time.Now()
	template := &x509.Certificate{
		SerialNumber: big.NewInt(now.UnixNano()), Subject: pkix.Name{CommonName: "bench"},
		DNSNames: []string{"*." + vncDomain}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		NotBefore: now.Add(-time.Hour), NotAfter: now.Add(24 * time.Hour),
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return certificate{}, err
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return certificate{}, err
	}
	parsed, err := x509.ParseCertificate(der)
	if err != nil {
		return certificate{}, err
	}
	c := certificate{cert: filepath.Join(dir, "cert.pem"), key: filepath.Join(dir, "key.pem"), roots: x509.NewCertPool()}
	c.roots.AddCert(parsed)
	if err := os.WriteFile(c.cert, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o600); err != nil {
		return certificate{}, err
	}
	return c, os.WriteFile(c.key, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret}), 0o600)
}
