import { useEffect, useRef, useState, type ReactNode } from "react";

import { t } from "../texts/t";
import { Icon } from "../ui/Icon";

/** So little below the screen is only space, in pixels. */
const MIN_BELOW = 40;

/**
 * Stands behind a text and says how much of it is below the screen, until its end was on the screen: words may stand behind many
 * lines without any.
 */
export function MoreBelow(): ReactNode {
  const mark = useRef<HTMLButtonElement>(null);
  const [screens, setScreens] = useState(0);
  const [isSeen, setSeen] = useState(false);
  useEffect(() => {
    const text = mark.current?.previousElementSibling;
    const scroller = text && scrollerOf(text);
    if (isSeen || !scroller) return;
    const look = () => {
      const below = text.getBoundingClientRect().bottom - scroller.getBoundingClientRect().bottom;
      // Nothing is seen of a part of the page that is not shown.
      if (scroller.clientHeight === 0) return;
      if (below <= MIN_BELOW) setSeen(true);
      else setScreens(Math.ceil(below / scroller.clientHeight));
    };
    const sizes = new ResizeObserver(look);
    sizes.observe(text);
    sizes.observe(scroller);
    scroller.addEventListener("scroll", look, { passive: true });
    return () => {
      sizes.disconnect();
      scroller.removeEventListener("scroll", look);
    };
  }, [isSeen]);
  return (
    <button
      type="button"
      className="more-below"
      ref={mark}
      hidden={isSeen || screens === 0}
      onClick={(event) => {
        event.stopPropagation();
        const scroller = scrollerOf(event.currentTarget);
        scroller?.scrollBy({ top: scroller.clientHeight * 0.85 });
      }}
    >
      {t("plan.more", { count: screens })} <Icon name="chevron" size={12} />
    </button>
  );
}

function scrollerOf(element: Element): Element | undefined {
  for (let box = element.parentElement; box; box = box.parentElement) if (/auto|scroll/.test(getComputedStyle(box).overflowY)) return box;
  return undefined;
}
