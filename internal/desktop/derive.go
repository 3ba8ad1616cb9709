package desktop

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
)

// derivedLength is how many characters of 6 bits a derived password has: 132 bits, of which VNC
// Authentication uses the first 8 characters (RFC 6143 section 7.2.2), 48 bits.
const derivedLength = 22

// derivePassword is the password of one machine under one name: no other machine has it, and who
// knows it learns nothing of the root. The control plane computes the same, see docs/workstations.md.
func derivePassword(root string, id ID, machine string) string {
	mac := hmac.New(sha256.New, []byte(root))
	fmt.Fprintf(mac, "gatehouse vnc 1\x00%s\x00%s\x00%s", id.Tenant, id.Name, machine)
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil))[:derivedLength]
}
