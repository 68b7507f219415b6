// @vitest-environment jsdom
import { cleanup, fireEvent, render } from "@testing-library/react";
import { afterEach, expect, test } from "vitest";

import { ExactNumber } from "../api/exactJson";
import type { CallPreview, Step } from "../api/types";
import { CallView } from "./CallView";
import { StepList } from "./StepList";

afterEach(cleanup);

test("each call says which program makes it", () => {
  const step = (position: number, madeBy: Step["madeBy"]): Step => ({ id: `s${position}`, position, description: "note", status: "PENDING", tool: "up__note", arguments: {}, ...(madeBy && { madeBy }) });
  const { container } = render(<StepList steps={[step(1, "planwright"), step(2, "client"), step(3, undefined)]} />);
  const rows = [...container.querySelectorAll(".step-body")].map((row) => row.querySelector(".step-about")?.textContent);
  expect(rows).toEqual(["Planwright makes this call", "the agent makes this call", undefined]);
});

const call = (more: Partial<Step>): Step => ({ id: "s1", position: 1, description: "", status: "PENDING", tool: "write_file", arguments: { path: "a" }, ...more });

test("what the agent says about a recorded call is shown, and the call itself is no such words", () => {
  const shown = (description: string) => {
    const { container, unmount } = render(<StepList steps={[call({ description })]} unfolded />);
    const words = container.querySelector(".step-purpose")?.textContent;
    unmount();
    return words;
  };
  expect(shown('write_file({"path":"a"})')).toBeUndefined();
  expect(shown('write_file({"path":"a"}): delete the backups')).toBe("The agent's words: delete the backups");
  expect(shown("delete the \u202ebackups")).toBe("The agent's words: delete the ⟦U+202E⟧backups");
});

test("a plan that begins to wait unfolds the steps that were drawn before, and a person may fold them", () => {
  const steps = [call({ tool: undefined, arguments: undefined, description: "Tidy", verification: "the shelf is empty" })] as Step[];
  const { container, rerender } = render(<StepList steps={steps} />);
  expect(container.textContent).not.toContain("the shelf is empty");
  rerender(<StepList steps={steps} unfolded />);
  expect(container.textContent).toContain("the shelf is empty");
  fireEvent.click(container.querySelector("button.step-label") as Element);
  expect(container.textContent).not.toContain("the shelf is empty");
});

test("names of tools, folders and agents hide nothing, and no argument is left out", () => {
  const steps = [
    call({ tool: "mail\u202e__send", arguments: ["all of them"] as unknown as Step["arguments"] }),
    call({ id: "s2", position: 2, tool: "run_command", arguments: { command: "ls", cwd: "web\u200b", timeout: 7, account: new ExactNumber("12345678901234567891") } }),
    call({ id: "s3", position: 3, agent: "cod\u2066er" }),
  ] as Step[];
  const { container } = render(<StepList steps={steps} unfolded />);
  for (const words of ["mail⟦U+202E⟧__send", "all of them", "web⟦U+200B⟧", "timeout", "12345678901234567891", "cod⟦U+2066⟧er"]) expect(container.textContent).toContain(words);
});

test("a difference does not stand for arguments that it does not show", () => {
  const preview = { stepId: "s1", path: "a", before: "1\n", after: "2\n", existsBefore: true, existsAfter: true } as CallPreview;
  const { container } = render(<CallView tool="write_file" args={{ path: "a", content: "2\n", then: "delete the backups" }} preview={preview} />);
  expect(container.querySelector(".diff")).not.toBeNull();
  expect(container.textContent).toContain("delete the backups");
});
