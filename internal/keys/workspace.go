package keys

import (
	"crypto/sha1"
	"fmt"
)

// workspaces is the namespace of the workspaces' UUIDs, a random one.
var workspaces = [16]byte{0x5c, 0x0e, 0x2b, 0x9d, 0x1f, 0x6a, 0x4e, 0x53, 0x9b, 0x7e, 0x3a, 0x48, 0xd1, 0x60, 0xc2, 0x7f}

// WorkspaceID returns the name of a tenant in OpenRouter's API: a UUID, which is the same for the same
// tenant everywhere (version 5, RFC 9562, 5.5). That of "" is empty.
func WorkspaceID(tenant string) string {
	if tenant == "" {
		return ""
	}
	sum := sha1.Sum(append(workspaces[:], tenant...))
	sum[6] = sum[6]&0x0f | 0x50
	sum[8] = sum[8]&0x3f | 0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", sum[:4], sum[4:6], sum[6:8], sum[8:10], sum[10:16])
}
