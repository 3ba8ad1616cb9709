package authserver

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/testkit/jsontest"
)

// startSite serves metadata documents, and returns the URL that is the ID of a client.
func startSite(t *testing.T, document func(id string) string) (id string, config func(*Config), asked *int) {
	t.Helper()
	asked = new(int)
	site := httptest.NewUnstartedServer(nil)
	site.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		*asked++
		if r.URL.Path == "/moved" {
			http.Redirect(w, r, "/client", http.StatusFound)
			return
		}
		_, _ = fmt.Fprint(w, document(site.URL+"/client"))
	})
	site.StartTLS()
	t.Cleanup(site.Close)
	return site.URL + "/client", func(c *Config) { programs(c); c.Documents = site.Client() }, asked
}

func published(id string) string {
	return `{"client_id":"` + id + `","client_name":"A site","redirect_uris":["` + callback + `"],"token_endpoint_auth_method":"none","more":[1]}`
}

func TestAClientIsKnownByItsMetadataDocument(t *testing.T) {
	id, config, asked := startSite(t, published)
	b := start(t, config)
	page := b.look(query(id)).Body.String()
	if !strings.Contains(page, "The site <b>127.0.0.1</b>") || !strings.Contains(page, "“A site”") {
		t.Errorf("%s", page)
	}
	a := b.exchange(id, b.agree(query(id)).Get("code"))
	b.want(a, 200, "")
	if in, _, err := b.Find(t.Context(), a.text("access_token")); err != nil || in.Client != "127.0.0.1" {
		t.Errorf("%+v, %v", in, err)
	}
	if *asked != 1 {
		t.Errorf("the document was fetched %d times", *asked)
	}
	b.at = b.at.Add(documentLife)
	if b.look(query(id)); *asked != 2 {
		t.Errorf("the document was fetched %d times", *asked)
	}
	if w := b.look(query(id, "redirect_uri", "https://evil.example.com/")); w.Code != 400 || backOf(w.Body.String()) != nil {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}

func TestDocumentsThatAreRefused(t *testing.T) {
	for name, document := range map[string]func(id string) string{
		"of another client":       func(id string) string { return published(id + "2") },
		"that wants a secret":     func(id string) string { return strings.Replace(published(id), `"none"`, `"client_secret_post"`, 1) },
		"that is too large":       func(id string) string { return published(id) + strings.Repeat(" ", maxDocument) },
		"that is not JSON":        func(string) string { return "<html>" },
		"without an address":      func(id string) string { return `{"client_id":"` + id + `"}` },
		"with a bad address":      func(id string) string { return strings.Replace(published(id), callback, "http://evil.example.com/", 1) },
		"with a scheme of a file": func(id string) string { return strings.Replace(published(id), callback, "file:///etc/passwd", 1) },
	} {
		id, config, asked := startSite(t, document)
		b := start(t, config)
		for range 2 {
			if w := b.look(query(id)); w.Code != 400 || backOf(w.Body.String()) != nil {
				t.Errorf("%s: %d %s", name, w.Code, w.Body)
			}
		}
		if *asked != 1 {
			t.Errorf("%s: it was fetched %d times", name, *asked)
		}
		b.at = b.at.Add(failureLife)
		if b.look(query(id)); *asked != 2 {
			t.Errorf("%s: it is refused for ever", name)
		}
	}
}

func TestADocumentIsFetchedFromWhereItSays(t *testing.T) {
	id, config, asked := startSite(t, published)
	b := start(t, config)
	root := strings.TrimSuffix(id, "/client")
	for _, id := range []string{
		root, root + "/", root + "/client#x", strings.Replace(id, "https://", "https://user@", 1), root + "/a/../client", root + "/./client", "https:///client", "https://%zz/client",
		"https://claude.ai%E2%81%84.evil.example/client", "https://claude.ai\u2044.evil.example/client", "https://cl\u0430ude.ai/client", root + "/client\u2044",
		"https://[fe80::1%25 claude.ai]/client",
	} {
		if w := b.look(query(id)); w.Code != 400 || *asked != 0 {
			t.Errorf("%s: %d, fetched %d times", id, w.Code, *asked)
		}
	}
	if w := b.look(query(root + "/moved")); w.Code != 400 || *asked != 1 {
		t.Errorf("a redirect was followed: %d, fetched %d times", w.Code, *asked)
	}
	for i := range maxFetches {
		b.look(query(fmt.Sprint(root, "/other/", i)))
	}
	if w := b.look(query(id)); w.Code != 429 || w.Header().Get("Retry-After") != "600" || *asked != maxFetches || !strings.Contains(w.Body.String(), "ten minutes") {
		t.Errorf("%d: an address has the gateway fetch %d times", w.Code, *asked)
	}
}

func TestADocumentBehindTheGatewayIsNotFetched(t *testing.T) {
	reached := false
	inside := httptest.NewTLSServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached = true }))
	defer inside.Close()
	_, port, _ := strings.Cut(inside.Listener.Addr().String(), ":")
	b := start(t, programs)
	for _, host := range []string{"127.0.0.1", "localhost", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "2130706433", "0x7f000001", "0", "[::]", "127.1"} {
		w := b.look(query("https://" + host + ":" + port + "/client"))
		if w.Code != 400 || !strings.Contains(w.Body.String(), "at a public address") && !strings.Contains(w.Body.String(), "no URL") {
			t.Errorf("%s: %d %s", host, w.Code, w.Body)
		}
	}
	transport := publicClient().Transport.(*http.Transport)
	if conn, err := transport.DialContext(context.Background(), "tcp", inside.Listener.Addr().String()); err == nil || !strings.Contains(err.Error(), "not public") {
		t.Errorf("it is dialled: %v, %v", conn, err)
	}
	if transport.Proxy != nil {
		t.Error("a proxy could reach what the gateway must not")
	}
	if reached {
		t.Error("it was reached")
	}
}

func TestPublicAddresses(t *testing.T) {
	for address, public := range map[string]bool{
		"1.1.1.1": true, "8.8.8.8": true, "172.32.0.1": true, "2606:4700:4700::1111": true, "2a00:1450:4001:80b::200e": true,
		"0.0.0.0": false, "10.1.2.3": false, "100.64.0.1": false, "100.100.100.200": false, "127.0.0.1": false, "168.63.129.16": false, "169.254.169.254": false,
		"172.16.0.1": false, "192.0.2.1": false, "192.168.1.1": false, "198.18.0.1": false, "224.0.0.1": false, "255.255.255.255": false, "240.0.0.1": false,
		"::": false, "::1": false, "::ffff:10.0.0.1": false, "::127.0.0.1": false, "64:ff9b::a00:1": false, "fc00::1": false, "fd00:ec2::254": false, "fe80::1%eth0": false,
		"ff02::1": false, "2001:db8::1": false, "2001::1": false, "2002:a00:1::": false, "fec0::1": false,
	} {
		if got := isPublic(netip.MustParseAddr(address)); got != public {
			t.Errorf("%s: %v", address, got)
		}
	}
}

func TestAGatewayWithoutTheInternetFetchesNothing(t *testing.T) {
	id, config, asked := startSite(t, published)
	b := start(t, config, func(c *Config) { c.NoDocuments = true })
	w := httptest.NewRecorder()
	if b.ServeMetadata(w, nil); !jsontest.Has(t, w.Body.String(), `{"client_id_metadata_document_supported":false}`) {
		t.Errorf("%s", w.Body)
	}
	if w := b.look(query(id)); w.Code != 400 || *asked != 0 {
		t.Errorf("%d, fetched %d times", w.Code, *asked)
	}
}
