package provider

import (
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"strings"
)

func roundTrip(transport http.RoundTripper, req *http.Request) (*http.Response, error) {
	resp, err := transport.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode >= 300 && resp.StatusCode < 400 {
		_ = resp.Body.Close()
		return nil, &RedirectError{Status: resp.StatusCode, Target: redirectTarget(resp.Header.Get("Location"))}
	}
	// Compression was not requested, but some providers use it anyway.
	switch encoding := resp.Header.Get("Content-Encoding"); strings.ToLower(encoding) {
	case "", "identity":
	case "gzip", "x-gzip":
		resp.Body = &gunzip{compressed: resp.Body}
		resp.ContentLength = -1
	default:
		_ = resp.Body.Close()
		return nil, fmt.Errorf("the provider answered in an encoding that was not requested: %q", encoding)
	}
	return resp, nil
}

// gunzip reads lazily: an eager reader would wait for the first bytes of a stream before its header
// could be used.
type gunzip struct {
	compressed io.ReadCloser
	plain      *gzip.Reader
}

func (g *gunzip) Read(p []byte) (int, error) {
	if g.plain == nil {
		plain, err := gzip.NewReader(g.compressed)
		if err != nil {
			return 0, fmt.Errorf("decompressing the answer: %w", err)
		}
		g.plain = plain
	}
	return g.plain.Read(p)
}

func (g *gunzip) Close() error { return g.compressed.Close() }
