package main

import (
	"crypto/sha256"
	"encoding/json"
	"regexp"
	"runtime/debug"
	"testing"
)

func TestTheBillNamesAllThatIsInTheProgram(t *testing.T) {
	info := &debug.BuildInfo{GoVersion: "go1.26.8", Settings: []debug.BuildSetting{{Key: "GOARCH", Value: "arm64"}, {Key: "GOOS", Value: "linux"}, {Key: "-trimpath", Value: "true"}}}
	modules := []module{
		{path: "github.com/BurntSushi/toml", version: "v1.6.0", license: "MIT", sum: "h1:dRaEfpa2VI55EwlIW72hMRHdWouJeRF7TPYhI+AUQjk="},
		{path: "example.com/old", version: "v2.0.0+incompatible", license: "Apache-2.0, BSD-3-Clause", sum: "h1:2jGQ4VOfjjTqTdMQYYGnTpZ5Ky+vBqUsvVfJ0sQDa+Q="},
	}
	others := []module{{path: "@novnc/novnc", version: "1.6.0", license: "MPL-2.0", sum: "sha512-ucEJOx4T2avIRCleodk7YobZj5O2Ga2AeLfQ69A/yjG9HHba2+PDgwSkN3FttrmG+70ZGx21sElNFouK13RzyA=="}}
	program := sha256.Sum256([]byte("program"))
	b := newBOM("v0.1.0", program, info, modules, others)
	want := []component{
		{Type: "library", Name: "stdlib", Version: "1.26.8", PURL: "pkg:golang/stdlib@1.26.8"},
		{Type: "library", Name: "github.com/BurntSushi/toml", Version: "v1.6.0", PURL: "pkg:golang/github.com/burntsushi/toml@v1.6.0"},
		{Type: "library", Name: "example.com/old", Version: "v2.0.0+incompatible", PURL: "pkg:golang/example.com/old@v2.0.0%2Bincompatible"},
		{Type: "library", Name: "@novnc/novnc", Version: "1.6.0", PURL: "pkg:npm/%40novnc/novnc@1.6.0"},
	}
	if len(b.Components) != len(want) {
		t.Fatalf("%+v", b.Components)
	}
	for i, c := range b.Components {
		if c.Type != want[i].Type || c.Name != want[i].Name || c.Version != want[i].Version || c.PURL != want[i].PURL || c.Ref != c.PURL {
			t.Errorf("%+v", c)
		}
	}
	if c := b.Components[1]; len(c.Hashes) != 1 || c.Hashes[0].Algorithm != "SHA-256" || c.Hashes[0].Content != "7516847e96b6548e791309485bbda13111dd5a8b8979117b4cf62123e0144239" {
		t.Errorf("%+v", c.Hashes)
	}
	if ids := b.Components[2].Licenses; len(ids) != 2 || ids[1].License.ID != "BSD-3-Clause" || b.Components[0].Hashes != nil {
		t.Errorf("%+v", b.Components[2:])
	}
	if c := b.Components[3]; c.Hashes[0].Algorithm != "SHA-512" || len(c.Hashes[0].Content) != 128 {
		t.Errorf("%+v", c.Hashes)
	}
	own := b.Metadata.Component
	if own.Version != "v0.1.0" || own.PURL != "pkg:golang/github.com/gatehouse-proxy/gatehouse@v0.1.0?goarch=arm64&goos=linux" || len(own.Hashes[0].Content) != 64 {
		t.Errorf("%+v", own)
	}
	if !regexp.MustCompile(`^urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`).MatchString(b.Serial) {
		t.Error(b.Serial)
	}
	first, err := json.Marshal(b)
	again, err2 := json.Marshal(newBOM("v0.1.0", program, info, modules, others))
	if err != nil || err2 != nil || string(first) != string(again) {
		t.Errorf("the same program has two bills: %s and %s, %v, %v", first, again, err, err2)
	}
}
