//go:build ignore

// Update fetches the rule set of gitleaks, at the version given, from its Go
// module, whose checksum the Go command verifies.
package main

import (
	"encoding/json"
	"log"
	"os"
	"os/exec"
	"path/filepath"
)

func main() {
	out, err := exec.Command("go", "mod", "download", "-json", "github.com/zricethezav/gitleaks/v8@"+os.Args[1]).Output()
	if err != nil {
		log.Fatal(err)
	}
	var module struct{ Dir string }
	if err := json.Unmarshal(out, &module); err != nil {
		log.Fatal(err)
	}
	for from, to := range map[string]string{"config/gitleaks.toml": "rules/gitleaks.toml", "LICENSE": "rules/LICENSE"} {
		text, err := os.ReadFile(filepath.Join(module.Dir, from))
		if err == nil {
			err = os.WriteFile(to, text, 0o644)
		}
		if err != nil {
			log.Fatal(err)
		}
	}
}
