"""What the doctor finds wrong."""

from threebrokers.doctor import Finding, examine


def troubles() -> dict[str, Finding]:
    """Return the doctor's troubles by what they are about; each has a cure."""
    findings = {finding.about: finding for finding in examine() if not finding.ok}
    assert all(finding.cure for finding in findings.values())
    return findings
