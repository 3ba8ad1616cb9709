package main

import (
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"net/url"
	"runtime/debug"
	"strings"
)

// bom is a bill of materials: CycloneDX 1.6 (ECMA-424, second edition). It has no time and no
// random number, so that the same program has the same one.
type bom struct {
	Schema      string `json:"$schema"`
	Format      string `json:"bomFormat"`
	SpecVersion string `json:"specVersion"`
	Serial      string `json:"serialNumber"`
	Version     int    `json:"version"`
	Metadata    struct {
		Component component `json:"component"`
	} `json:"metadata"`
	Components []component `json:"components"`
}

type component struct {
	Type     string    `json:"type"`
	Ref      string    `json:"bom-ref"`
	Name     string    `json:"name"`
	Version  string    `json:"version"`
	Hashes   []hash    `json:"hashes,omitempty"`
	Licenses []license `json:"licenses"`
	PURL     string    `json:"purl"`
}

type hash struct {
	Algorithm string `json:"alg"`
	Content   string `json:"content"` // hexadecimal
}

type license struct {
	License struct {
		ID string `json:"id"` // SPDX
	} `json:"license"`
}

const ownModule = "github.com/gatehouse-proxy/gatehouse"

// newBOM returns the bill of a program with this hash: of its modules, of Go's standard library and
// of what it has of other projects.
func newBOM(version string, program [32]byte, info *debug.BuildInfo, modules, others []module) bom {
	b := bom{Schema: "http://cyclonedx.org/schema/bom-1.6.schema.json", Format: "CycloneDX", SpecVersion: "1.6", Version: 1, Serial: "urn:uuid:" + uuidOf(program)}
	platform := url.Values{}
	for _, s := range info.Settings {
		if s.Key == "GOOS" || s.Key == "GOARCH" {
			platform.Set(strings.ToLower(s.Key), s.Value)
		}
	}
	own := newComponent("application", module{path: ownModule, version: version, license: "Apache-2.0"}, "golang")
	own.Name, own.Hashes = "gatehouse", []hash{{"SHA-256", hex.EncodeToString(program[:])}}
	own.PURL += "?" + platform.Encode()
	own.Ref = own.PURL
	b.Metadata.Component = own
	// The name by which scanners look for weaknesses of the standard library.
	std := module{path: "stdlib", version: strings.TrimPrefix(info.GoVersion, "go"), license: "BSD-3-Clause"}
	b.Components = append(b.Components, newComponent("library", std, "golang"))
	for _, m := range modules {
		b.Components = append(b.Components, newComponent("library", m, "golang"))
	}
	for _, m := range others {
		b.Components = append(b.Components, newComponent("library", m, "npm"))
	}
	return b
}

func newComponent(kind string, m module, ecosystem string) component {
	c := component{Type: kind, Name: m.path, Version: m.version, PURL: purl(ecosystem, m)}
	c.Ref = c.PURL
	for id := range strings.SplitSeq(m.license, ", ") {
		var l license
		l.License.ID = id
		c.Licenses = append(c.Licenses, l)
	}
	for prefix, algorithm := range sums {
		if text, ok := strings.CutPrefix(m.sum, prefix); ok {
			if sum, err := base64.StdEncoding.DecodeString(text); err == nil {
				c.Hashes = []hash{{algorithm, hex.EncodeToString(sum)}}
			}
		}
	}
	return c
}

// sums are what sums begin with: that of go.sum is the SHA-256 of a list of the hashes of all files
// (golang.org/x/mod/sumdb/dirhash), npm's that of the package.
var sums = map[string]string{"h1:": "SHA-256", "sha512-": "SHA-512"}

// purl returns a package URL (ECMA-427). Names of Go modules are in small letters there.
func purl(ecosystem string, m module) string {
	var path []string
	for part := range strings.SplitSeq(m.path, "/") {
		path = append(path, strings.ReplaceAll(url.PathEscape(part), "@", "%40"))
	}
	name := strings.Join(path, "/")
	if ecosystem == "golang" {
		name = strings.ToLower(name)
	}
	return "pkg:" + ecosystem + "/" + name + "@" + url.QueryEscape(m.version)
}

// uuidOf returns a UUID that is made of a hash (RFC 9562, version 8).
func uuidOf(hash [32]byte) string {
	u := hash[:16]
	u[6], u[8] = u[6]&0x0f|0x80, u[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", u[:4], u[4:6], u[6:8], u[8:10], u[10:])
}
