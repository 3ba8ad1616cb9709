package cluster

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"

	"github.com/gatehouse-proxy/gatehouse/caddymodule/core"
)

// build returns the TLS configuration; a nil block is the default.
func (t *EngineTLS) build() (*tls.Config, error) {
	config := &tls.Config{MinVersion: tls.VersionTLS12}
	if t == nil {
		return config, nil
	}
	config.ServerName = t.ServerName
	for _, path := range t.CA {
		pem, err := core.ReadBounded("ca", path, maxPEM)
		if err != nil {
			return nil, err
		}
		if config.RootCAs == nil {
			config.RootCAs = x509.NewCertPool()
		}
		if !config.RootCAs.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("ca %q has no certificate in PEM", path)
		}
	}
	if t.ClientCert == "" && t.ClientKey == "" {
		return config, nil
	}
	if t.ClientCert == "" || t.ClientKey == "" {
		return nil, errors.New("client_cert and client_key: give both, or none")
	}
	load := func() (*tls.Certificate, error) {
		pair, err := tls.LoadX509KeyPair(t.ClientCert, t.ClientKey)
		if err != nil {
			return nil, fmt.Errorf("client_cert: %w", err)
		}
		return &pair, nil
	}
	config.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return load() }
	_, err := load()
	return config, err
}

// maxPEM bounds a file of certificates, in bytes.
const maxPEM = 4 << 20
